"""The kinds of step a program may consist of, one module a kind."""
