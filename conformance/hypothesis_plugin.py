"""The Hypothesis plugin: makes ``settings(backend="autograd-conformance")`` known wherever the package is
installed.

Hypothesis calls ``register`` when it is imported; the backend itself lives in ``generate/backend.py`` and is
imported when a test draws from it.
"""

from __future__ import annotations

BACKEND = "autograd-conformance"


def register() -> None:
    """Register the backend by name."""
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS

    AVAILABLE_PROVIDERS[BACKEND] = "conformance.generate.backend.PrngProvider"
