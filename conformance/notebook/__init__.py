"""IPython and Jupyter: ``%load_ext conformance`` gives ``%%explain``.

`cells` makes one script of a notebook's cells, `magic` is the command. Nothing here imports IPython.
"""
