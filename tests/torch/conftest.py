"""The namespaces that one script runs on: torch and the reference."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture(params=["reference_impl", "torch"], ids=["reference", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The namespace that a script knows as torch."""
    return import_module(request.param)


@pytest.fixture
def namespace(torch: Any) -> Any:
    """The same, for files whose own torch is PyTorch."""
    return torch
