"""The generator: draws programs step by step beside a running implementation.

In reading order: ``state`` (choices, the program so far, its tensors), ``ops`` (calls of ops: arguments,
shapes, magnitudes), ``steps`` (kinds of step), ``guide`` (the loop and the weights), and ``strategy``
(programs as a Hypothesis strategy). Programs are run by ``execution`` and compared by ``comparison``.
"""
