"""The command line's way in: ``python -m conformance`` and the console script ``autograd-conformance``.

The verbs live in ``conformance.cli``.
"""

from __future__ import annotations

from conformance.cli import main

if __name__ == "__main__":
    main()
