"""An adapter that told what it is elsewhere is asked here as long as that is enough."""

from __future__ import annotations

import pickle
import sys

import pytest

from conformance import adapters
from conformance.adapters.capabilities import DEVICE_VARIABLE
from conformance.adapters.errors import AdapterError
from conformance.adapters.introduced import Introduced, told_of
from conformance.grading.check import versions_of
from conformance.grading.participants import meet_torch


def test_what_was_told_is_known_without_an_import():
    torch = adapters.load("torch")
    introduced = Introduced(pickle.loads(pickle.dumps(told_of(torch))), lambda: pytest.fail("it is imported"))
    assert adapters.capabilities(introduced) == adapters.capabilities(torch)
    assert (introduced.name, introduced.version) == ("torch", torch.version)
    assert (introduced.device, introduced.lacking) == (torch.device, torch.lacking)
    assert not hasattr(introduced, "serves")


def test_more_is_asked_of_what_is_imported():
    torch = adapters.load("torch")
    introduced = Introduced(told_of(torch), lambda: torch)
    assert introduced.namespace is torch.namespace


def test_an_error_keeps_its_hint_on_its_way_from_another_process():
    error = pickle.loads(pickle.dumps(AdapterError("there is none", "install one", 3)))
    assert (error.problem, error.hint, error.code) == ("there is none", "install one", 3)


def test_torch_is_met_in_another_process(monkeypatch):
    """It is imported there; here its description is enough."""
    monkeypatch.setattr(adapters, "_introduced", {})
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    monkeypatch.delitem(sys.modules, "torch")
    meet_torch()
    told = vars(adapters._introduced["torch"])
    assert told["version"] == versions_of("torch")["torch"]
