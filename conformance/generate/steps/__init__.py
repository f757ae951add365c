"""Kinds of step, each entered in the registry by its decorator."""
