"""How far values may differ, and which values of a program rounding can reach."""
