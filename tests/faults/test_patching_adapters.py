"""Adapters that change their process: whatever they do stays there, and what they show is as ever."""

from __future__ import annotations

import pytest

from conformance.execution.trace import Done
from hostile import COMPARISON_REPLACED, PROGRAM, adapter

HARMLESS = {
    "numpy patched": adapter(more="import numpy\nnumpy.array_equal = numpy.asarray = lambda *a, **k: True"),
    "the comparison replaced": adapter(more=COMPARISON_REPLACED),
    "json replaced": adapter(more="import json\njson.loads = lambda *a, **k: []"),
    "output": adapter(perform="print('x' * 100_000); sys.stderr.write('y'); return Value()"),
    "another working folder": adapter(more="os.chdir('/')"),
    "an environment without anything": adapter(more="os.environ.clear()"),
    "signals blocked": adapter(more="signal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    "a recursion limit of 1,000,000": adapter(more="sys.setrecursionlimit(1_000_000)"),
    "an exit hook that raises": adapter(more="__import__('atexit').register(lambda: 1 / 0)"),
    "a thread that never ends": adapter(more="threading.Thread(target=time.sleep, args=(3600,)).start()"),
    "warnings as errors": adapter(more="__import__('warnings').simplefilter('error')"),
    "a fork": adapter(perform="os.fork(); return Value()"),
    "bytes on its outputs": adapter(
        perform="os.write(1, b'[1]\\n' * 9); os.write(2, b'[1]\\n'); return Value()"
    ),
    "input that it takes": adapter(perform="sys.stdin.read(); os.read(0, 1000); return Value()"),
    "files of no length": adapter(
        more="import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"
    ),
    "every signal ignored": adapter(
        more="for each in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    try: signal.signal(each, signal.SIG_IGN)\n    except OSError: pass"
    ),
    "every signal blocked": adapter(more="signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())"),
    "a timer": adapter(
        more="signal.signal(signal.SIGALRM, lambda *_: None)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)"
    ),
    "a session of its own": adapter(
        perform="\n    try: os.setsid()\n    except OSError: pass\n    return Value()"
    ),
    "standard streams closed": adapter(more="os.closerange(0, 3)"),
    "streams replaced": adapter(more="sys.stdin = sys.stdout = sys.stderr = sys.__stdout__ = None"),
    "no collector": adapter(more="import gc; gc.disable(); gc.freeze()"),
    "no files": adapter(more="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"),
    "a folder that is gone": adapter(
        more="import tempfile\nf = tempfile.mkdtemp()\nos.chdir(f)\nos.rmdir(f)"
    ),
    "no time": adapter(more="time.sleep = lambda s: None\ntime.perf_counter = time.monotonic = None"),
    "a clock that stands": adapter(more="time.monotonic = time.time = lambda: 0"),
    "values that raise": adapter(
        more="class Value:\n    def __getattribute__(self, name): raise ValueError(name)\n"
        "    def __bool__(self): raise ValueError('bool')\n    __eq__ = None\n    __hash__ = None"
    ),
    "a modified step": adapter(perform="operands[0] and None; step.__class__.op; return Value()"),
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_an_implementation_does_to_its_process_stays_there(remote, text):
    """Two runs of a program show the same, as a clean adapter does."""
    mine = remote(text)
    first, second = (mine.run_program(PROGRAM, "each") for _ in range(2))
    assert all(isinstance(seen.outcome, Done) for seen in first.observations)
    assert first == second
