"""How calls of ops are drawn: operands, attribute values, shapes and magnitudes."""
