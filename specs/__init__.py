"""The specification: the ops, the facts, the rules and their witness cases.

Imports the standard library and numpy, nothing else. How the rules are obeyed lives in ``reference_impl``,
how they are looked at in ``conformance``.
"""
