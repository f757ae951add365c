"""Witness programs in plain PyTorch by chapter; what a case is and how it runs lives in ``specs.case``."""
