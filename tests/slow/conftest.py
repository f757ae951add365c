"""The command line without a process of its own, which would import everything first."""

from __future__ import annotations

import sys

import pytest

from conformance.cli import main


@pytest.fixture
def cli(monkeypatch, capfd):
    """Calls the command line in this process; gives exit code, standard output and standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capfd.readouterr()
        return int(exit_.value.code or 0), said.out, said.err

    return call
