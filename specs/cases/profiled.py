"""Profilers around a program: their parts answer, and change nothing."""

import torch

from specs.cases._measures import derivatives, error_kinds, ramp


def profiling_changes_nothing():
    """Names of blocks, and what is recorded when. Rule: op/derivatives-beyond-programs."""
    p = torch.profiler
    t = ramp(3)
    y = t.softmax(0)
    assert derivatives(y, t) == [
        [-0.01183, -0.06877, 0.08061],
        [0.00177, 0.0172, -0.01897],
        [-0.001, -0.02074, 0.02174],
    ]
    with torch.autograd.profiler.profile(enabled=False), p.record_function("softmax"):
        assert torch.equal(t.softmax(0), y)
    twice = torch.autograd.profiler.record_function("twice")(lambda x: x * 2)
    assert twice(t).tolist() == [-4.0, 1.0, 6.0]
    when = p.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    assert [when(at).name for at in range(7)] == [
        "NONE",
        "NONE",
        "WARMUP",
        "RECORD",
        "RECORD_AND_SAVE",
        "NONE",
        "NONE",
    ]
    again = p.schedule(wait=0, warmup=0, active=2)
    assert [again(at).name for at in range(4)] == ["RECORD", "RECORD_AND_SAVE", "RECORD", "RECORD_AND_SAVE"]
    assert p.ProfilerActivity.CPU in p.supported_activities()
    assert (
        error_kinds(
            [lambda: p.schedule(wait=-1, warmup=0, active=1), lambda: p.schedule(wait=0, warmup=0, active=0)]
        )
        == "oo"
    )
