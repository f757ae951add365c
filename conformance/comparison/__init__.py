"""Holding two traces against each other, judging who is at fault, and what is known already."""
