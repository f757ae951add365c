"""Small reports for the tests of their forms."""

from __future__ import annotations

from conformance.report import Crash, Finding, Report, RuleResult, Status, Subject, Totals, Verdict

FINDING = Finding(
    where="program 17",
    blames=Verdict.NONCONFORMANCE,
    line="b = a.mul(2.0)",
    name="b",
    fact="is_leaf",
    expected="False",
    actual="True",
    because=("leaf/op-result-is-no-leaf",),
    downstream=2,
    script="import torch\n\na = torch.ones(2, requires_grad=True)\nb = a.mul(2.0)\nprint(b.is_leaf)\n",
    sides=("torch", "mine"),
    ops=("torch.ones", "mul"),
    alike=3,
)
CRASH = Crash(
    where="program 4",
    side="torch",
    blames=Verdict.BROKEN_SUITE,
    error="SIGSEGV",
    script="import torch\n",
)


def report(**changed) -> Report:
    """A small report of everything going well, but for what is changed."""
    rules = {
        "leaf/op-result-is-no-leaf": RuleResult(
            "leaf/op-result-is-no-leaf", Status.HELD, fired=9, compared=50, cases=1
        ),
        "view/shares-storage": RuleResult("view/shares-storage"),
    }
    plain = {
        "subject": Subject("mine", "1.0"),
        "against": "torch",
        "seed": 1,
        "source": "prng",
        "device": "cpu",
        "versions": {"torch": "2.13.0"},
        "totals": Totals(programs=10, agree=10, steps=100, error_steps=12, compared=900),
        "cases": {"held": 3, "broken": 0, "unsupported": 0, "not exercised": 0},
        "rules": rules,
    }
    return Report(**plain | changed)
