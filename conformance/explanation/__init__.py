"""Explaining a script: it runs on the reference, line by line, and each fact that changes names its rules.

`value` holds what is found, `run` starts the script in a process of its own, `text` prints.
"""
