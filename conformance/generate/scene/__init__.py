"""The state a program is drawn in, and the choices it is drawn from."""
