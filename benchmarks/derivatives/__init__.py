"""A count of the derivatives that generated programs compute: of each op, in each dtype, first and second.

``counting`` watches the reference evaluate nodes, ``torch_has`` asks torch for what was never computed, and
``page`` writes ``docs/derivatives.md``.
"""
