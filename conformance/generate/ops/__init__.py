"""Calls of ops: operands, attribute values, shapes and magnitudes."""
