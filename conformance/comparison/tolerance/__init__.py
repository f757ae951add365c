"""The error bounds of values, and the data flow that says which values rounding can reach."""
