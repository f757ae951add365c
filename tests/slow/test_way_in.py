"""The way in: templates that work, a first look, modules shaped like torch, and pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.grading.smoke import smoke

ROOT = Path(__file__).parents[2]
ALONE = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""An environment in which pytest takes the plugin from the option alone, be it installed or not."""


@pytest.fixture
def command(monkeypatch, capfd, tmp_path):
    """Calls the command line in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        return int(exited.value.code or 0), *capfd.readouterr()

    return call


def test_a_new_adapter_works_as_it_stands(command, tmp_path):
    assert 0 == command("adapter", "new", "mine")[0]
    found = smoke(str(tmp_path / "mine.py"))
    assert (0, 5) == (found.exit_code, sum(line.verdict == "ok" for line in found.lines))
    assert {"ok", "not claimed"} == {line.verdict for line in found.lines}


def test_nothing_is_written_over(command, tmp_path):
    (tmp_path / "mine.py").write_text("keep me")
    code, _, error = command("adapter", "new", "mine")
    assert (2, "error: mine.py is there already") == (code, error.partition(" (hint")[0])
    assert "keep me" == (tmp_path / "mine.py").read_text()


@pytest.mark.parametrize("name", ["", "a b", "../x", "1st", "ä.py"])
def test_a_name_that_is_none_is_told(command, name):
    assert 2 == command("adapter", "new", name)[0]


def changed(tmp_path, before, after):
    file = tmp_path / "mine.py"
    text = (ROOT / "conformance/adapters/templates/adapter.py").read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    return smoke(str(file))


def test_what_differs_is_told_with_its_step_and_fact(tmp_path):
    found = changed(tmp_path, "(self.grad or 0.0) + upstream", "upstream")
    differing = [line for line in found.lines if line.verdict == "differs"]
    assert 1 == found.exit_code
    assert "after z.backward(): x.grad.value: PyTorch 7.0, here 1.0" in [line.why for line in differing]


def test_grads_that_begin_at_zero_are_told_with_what_to_do(tmp_path):
    """The grad is shown by the facts that are seen of it, and what repeats is told once."""
    before = "if value.grad is not None:"
    found = changed(tmp_path, before, "if True:\n        value.grad = value.grad or 0.0")
    first, *others = [line.why for line in found.lines if line.verdict == "differs"]
    assert "x.grad: PyTorch None, here a grad: value 0.0 (where grads begin at 0" in first
    assert {"as above"} == set(others)
    assert "0 of 15 programs agree: it runs, and differs from PyTorch in all" == found.said


def test_a_number_in_the_place_of_a_tensor_is_told_with_what_to_do(tmp_path):
    """An engine that counts its tensors hands out numbers, which Python could not tell from any other."""
    found = changed(tmp_path, "return Value(float(data))", "return 7")
    assert "here int (numbers, text and lists of Python are no tensors" in found.lines[0].why


def test_a_broken_adapter_is_told(tmp_path):
    found = changed(tmp_path, '"value": value.data', '"valeu": value.data')
    assert 3 == found.exit_code
    assert "did you mean 'value'" in found.lines[-1].why


def test_an_adapter_that_can_do_nothing_is_no_success(tmp_path):
    found = changed(tmp_path, "return OPS[step.op](*args, **kwargs)", "raise NotImplementedError")
    assert 3 == found.exit_code


def test_a_module_that_is_shaped_like_torch_needs_no_adapter():
    found = smoke("torch-like:reference_impl")
    assert (0, {"ok"}) == (found.exit_code, {line.verdict for line in found.lines})


def test_pytest_has_a_test_for_each_rule_and_case(tmp_path):
    """Failures are told with the rule and the case; what is not claimed is skipped with a reason."""
    environment = ALONE | {"OMP_NUM_THREADS": "1"}
    options = [
        "-p",
        "conformance.pytest_plugin",
        "--autograd-impl",
        "micrograd",
        "--autograd-rules",
        "backward/*",
    ]
    run = [sys.executable, "-m", "pytest", "-q", "-rfs", "-p", "no:cacheprovider", *options, str(tmp_path)]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert 1 == done.returncode, done.stdout + done.stderr
    assert "autograd[backward/leaf-root-backward/a_leaf_can_be_the_root]" in done.stdout
    assert "expected x.grad.value 2.0, got 1.0" in done.stdout
    assert "needs " in done.stdout


def test_pytest_is_told_of_an_implementation_that_is_none(tmp_path):
    options = ["-p", "conformance.pytest_plugin", "--autograd-impl", "nothing.py"]
    run = [sys.executable, "-m", "pytest", "-q", *options, str(tmp_path)]
    done = subprocess.run(run, cwd=tmp_path, env=ALONE, capture_output=True, text=True, check=False)
    assert 4 == done.returncode
    assert "there is no file nothing.py" in done.stderr + done.stdout
