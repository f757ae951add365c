"""Imported first by the server that forks processes: it collects no garbage, since what it imports is none.

Each process turns its collector on (`conformance.execution.collector.spare_collector`).
"""

from __future__ import annotations

import gc

gc.disable()
