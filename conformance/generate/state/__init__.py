"""The state of a program being drawn, and the choices it is drawn from."""
