"""Implementations in processes of their own, which end with their test."""

from __future__ import annotations

import pytest

from conformance.adapters.remote import Remote


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """Return a function that starts an implementation of that text in a process of its own."""
    started: list[Remote] = []
    monkeypatch.setattr("conformance.adapters.remote.isolated", lambda: True)  # or it is started twice

    def start(text: str) -> Remote:
        file = tmp_path / "mine.py"
        file.write_text(text, encoding="utf-8")
        started.append(Remote(str(file)))
        return started[-1]

    yield start
    for each in started:
        each.close()
