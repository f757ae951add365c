"""The findings about other libraries: short, cited, and told as they come."""

from __future__ import annotations

import re

import pytest

from conformance.targets import findings
from conformance.targets.findings import FOLDER, Finding
from specs.rule import RULES

PATHS = [path for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]

HANGS = """# It hangs

| | |
|---|---|
| library | torch |
| version | {version} |

```python
print({script})
```

## Actual

```text
{actual}
```
"""


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_finding_is_short_and_cites_rules_that_there_are(path):
    """A script has at most ten lines, and what is expected rests on mathematics or a rule."""
    finding, text = Finding.read(path), path.read_text()
    assert len(finding.script.splitlines()) <= 10
    cited = re.findall(r"rule `([^`]+)`", text)
    assert set() == set(cited) - set(RULES)
    assert cited or "mathematics" in text or "PyTorch" in text
    assert "?\n" != finding.actual


def _write(folder, script, actual, version):
    path = folder / "finding.md"
    path.write_text(HANGS.format(script=script, actual=actual, version=version))
    return path


def test_a_finding_that_comes_out_otherwise_fails(tmp_path, monkeypatch, capsys):
    """Output is compared to the letter, and another version is skipped with the reason."""
    version = pytest.importorskip("importlib.metadata").version("torch")
    monkeypatch.setattr(findings, "FOLDER", tmp_path)
    _write(tmp_path, 3, 3, version)
    assert 0 == findings.main([])
    _write(tmp_path, 3, 4, version)
    assert 1 == findings.main([])
    assert "differs      finding: now '3\\n'" in capsys.readouterr().out
    _write(tmp_path, 3, 4, "0.1")
    assert 0 == findings.main([])
    assert "the finding is of 0.1" in capsys.readouterr().out


def test_a_finding_whose_script_is_too_long_is_refused(tmp_path):
    """Nobody files a script of more than ten lines."""
    path = _write(tmp_path, "1)\n" * 11 + "(", 1, "1")
    with pytest.raises(ValueError, match="more than 10 lines"):
        Finding.read(path)


def test_a_finding_that_is_none_is_told_with_one_near_it(capsys):
    """A name that was mistyped is no traceback."""
    with pytest.raises(SystemExit) as ended:
        findings.main(["paddle-prod-of-zeros"])
    assert 2 == ended.value.code
    assert (
        "there is no finding paddle-prod-of-zeros; did you mean paddle-prod-of-zero?"
        in capsys.readouterr().err
    )
