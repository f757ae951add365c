"""Forward mode: tangents of ops and of custom functions."""
