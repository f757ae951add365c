"""Imported last by the server that forks processes: no collector, not even at the server's end, searches what
was imported before.
"""

from __future__ import annotations

import gc

gc.freeze()
