"""The gate of the formulas: inputs that take each branch, checked against torch, and mutants of each formula.

``inputs`` makes calls of every op from its declaration, ``measure`` differentiates them twice, ``sources``
finds the functions that formulas are made of, ``mutants`` changes these, ``gate`` says which changes
nobody notices, and ``branches`` which branches no input takes.
"""
