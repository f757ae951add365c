"""Runs a program on an adapter, step by step, and observes.

`Runner` goes one step at a time, for whoever draws the next step beside a running implementation; whole
programs are run in `run`, what an adapter does at once in `region`. What an implementation is asked for lives
in `adapters`; nothing here knows torch.

At full density a look follows each step. After an operation that writes or differentiates, as its name tells,
all that is live is looked at; after any other, its operands and results. A change elsewhere shows at the next
look at everything, and one comes at the end. In long programs these looks are rarer, see `op_reach`. PyTorch
warns at length when the grad of a non-leaf that retains none is read. Such a grad is therefore read after
operations that speak of gradients and at the end, and unseen otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.execution.birth import GIVE_GRADIENTS, Chance
from conformance.execution.modes import ModeStack
from conformance.execution.op_reach import EVERYTHING, Scope
from conformance.execution.shown import PLAIN, Shown, items
from conformance.execution.trace import (
    DONE,
    UNBOUND,
    Calls,
    Crashed,
    Observation,
    Outcome,
    Refused,
    Trace,
    Unsupported,
)
from conformance.program import (
    COPY,
    DELETE,
    OPAQUE,
    REST,
    Device,
    Dtype,
    Function,
    Program,
    Ref,
    Step,
    decoration,
)  # fmt: skip
from specs.callbacks import compiled
from specs.fact import DENSITIES

_OPAQUE = ("opaque",)
_NO_FACTS: dict[str, tuple[Any, ...]] = {}
_new: Any = tuple.__new__  # NB: makes an `Observation` of its fields in half the time of its own way


class _NameUnbound(Exception):
    """A step mentions a name that is not bound to anything usable."""


class Runner:
    """One implementation running one program; close it (or use it as a context manager) when done.

    `env` maps names to the implementation's own values (None where a step bound None). Looking into it
    observes nothing, `look()` does.
    """

    def __init__(self, adapter: Any, density: str = "each") -> None:
        if density not in DENSITIES and density != EVERYTHING:
            raise ValueError(f"density {density!r} is none of {', '.join(DENSITIES)}")
        self.adapter, self.density = adapter, density
        self._scope = Scope(density)
        self.env: dict[str, Any] = {}
        self.observations: list[Observation] = []
        self.steps: list[Step] = []
        self._tensors: dict[str, Any] = {}
        self._plain: dict[str, tuple[Any]] = {}
        self._since: dict[str, Any] = {}
        self._chance = Chance()
        self._touched: dict[str, Any] = {}
        self._calls: list[tuple[int, tuple[Any, ...]]] = []
        self._raised: Exception | None = None
        self._seen_all = False
        self._recording: list[Runner] = [self]
        self._resolve = getattr(adapter, "resolve", None)
        self._observe = getattr(adapter, "observe", None)
        self._warned = getattr(adapter, "warned", None)
        self._orderly = getattr(adapter, "orderly", None)
        self._fired = getattr(adapter, "fired", None)
        self._lacks = getattr(adapter, "lacks", None) or (lambda error: False)
        self._forget_all = getattr(adapter, "forget", None)
        self._open = True
        self.session = adapter.start()
        shown = self._shown = Shown(adapter, self.session)
        self._counter = getattr(adapter, "counter", None) or shown.version
        self._gradient = getattr(adapter, "gradient", None) or shown.gradient
        self._modes = ModeStack(adapter, self.session)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the modes, let go of all values and end the session; a second call does nothing."""
        if self._open:
            self._open, self._raised = False, None  # raised by a function, and caught by what called it
            self._modes.leave(0)
            if self._forget_all is not None:
                self._forget_all(self._tensors.values())
            # A tensor with a hook leads to the runner: left to each other they would wait for the collector,
            # and for good where a graph that leads to itself, as create_graph makes them, keeps the hook.
            for held in (self.env, self._tensors, self._plain, self._touched, self._since, self._recording):
                held.clear()
            stop = getattr(self.adapter, "stop", None)
            if stop is not None:
                stop(self.session)

    def step(self, step: Step) -> Observation:
        """Perform one step and observe as the density says."""
        self._touched.clear()
        outcome = self._perform(step)
        facts = _NO_FACTS
        if self.density != "end":
            grads, everything = self._scope.after(step)
            self._seen_all = everything and grads
            facts = self.look(grads, None if everything else self._touched)
        warned = self._warned(self.session) if self._warned is not None else None
        fired = self._fired(self.session) if self._fired is not None else ()
        calls: Calls | None = ()
        if self._calls:
            calls, self._calls = tuple(self._calls), []
            if self._orderly is not None and not self._orderly():
                calls = None
        if self._modes.unrecorded:
            calls = None
        observation: Observation = _new(Observation, (outcome, facts, warned, fired, calls))
        self.observations.append(observation)
        self.steps.append(step)
        return observation

    def finish(self) -> Trace:
        """Observe all there is, unless just done, close, and give the trace of the steps performed.

        NB: after a crash that only looking shows, looking again might show none.
        """
        crashed = bool(self.observations) and self.observations[-1].crash is not None
        if self.observations and not (self._seen_all or crashed):
            for name, since in self._since.items():
                if type(since) is not int and name in self._tensors:  # none then, and none now
                    self._since[name] = self._shown.counted(self._tensors[name])
            self.observations[-1] = self.observations[-1]._replace(facts=self.look())
        wiring = getattr(self.adapter, "wiring", None)
        topology = None
        if wiring is not None and not crashed and not self._shown.hidden:
            facts = self.observations[-1].facts if self.observations else _NO_FACTS
            topology = wiring(self.session, self._tensors, facts)
        self.close()
        program = Program(tuple(self.steps))
        complete = self._observe is not None and not self._shown.hidden
        return Trace(program, self.adapter.name, self.density, tuple(self.observations), complete, topology)

    def _perform(self, step: Step) -> Outcome:
        op, args, kwargs, out, mode = step
        decorated = None
        if mode or self._modes.open:
            mode, decorated = decoration(mode)
            if mode != self._modes.open:
                failed = self._modes.switch(mode, self._recorded)
                if failed is not None:
                    return failed
        if op == DELETE:
            return self._delete(args)
        env, touched = self.env, self._touched
        operands = []
        try:
            for value in args:
                kind = type(value)
                if kind is Ref:
                    name = value.name
                    value = env.get(name)
                    if value is None:
                        return UNBOUND
                    touched[name] = value
                elif kind not in PLAIN:
                    value = self._value(value)
                operands.append(value)
            named = None
            if kwargs:
                named = {}
                for name, value in kwargs:  # NB: in a third of the time of a comprehension
                    named[name] = value if type(value) in PLAIN else self._value(value)
        except _NameUnbound:
            return UNBOUND
        except NotImplementedError as error:  # a dtype that there is not
            return Unsupported(str(error))
        try:
            if self._resolve is not None:
                function = self._resolve(op)
                if function is None:
                    return Unsupported(f"{self.adapter.name} has no {op}")
                if decorated is not None:
                    function = self.adapter.decorate(decorated, function)
                result = function(*operands) if named is None else function(*operands, **named)
            elif decorated is not None:
                with self.adapter.mode(self.session, decorated):
                    result = self.adapter.perform(self.session, step, (tuple(operands), named or {}))
            else:
                result = self.adapter.perform(self.session, step, (tuple(operands), named or {}))
        except Exception as error:
            return self._failed(error)
        if out:
            opaque = op in OPAQUE or (op == COPY and self._plain.get(args[0].name) == _OPAQUE)
            return self._bind(out, result, opaque, op)
        if self._chance:
            self._chance.hand_on(op, args, self._since, self._modules(), self._tensors)
        return DONE

    def _value(self, value: Any) -> Any:
        """An argument with names and dtypes replaced by the implementation's own."""
        kind = type(value)
        if kind is Ref:
            if (found := self.env.get(value.name)) is None:
                raise _NameUnbound
            self._touched[value.name] = found
            return found
        if kind is list:
            return value if PLAIN.issuperset(map(type, value)) else [self._value(item) for item in value]
        if kind is Function:
            return self._recorded(value.text)
        if kind is Dtype:
            dtype = getattr(self.adapter, "dtype", None)
            return value if dtype is None else dtype(value.name)
        if kind is Device:
            place = getattr(self.adapter, "place", None)
            return value.name if place is None else place(value.name)
        if kind is tuple:
            return value if PLAIN.issuperset(map(type, value)) else tuple(map(self._value, value))
        if kind is slice:
            return slice(self._value(value.start), self._value(value.stop), self._value(value.step))
        return value

    def _recorded(self, text: str) -> Callable[..., Any]:
        """Make a callback of its text whose calls and exceptions are recorded."""
        call, step, recording = compiled(text), len(self.steps), self._recording

        def recorded(*given: Any) -> Any:
            for runner in recording:
                seen = [runner._shown.given(value, runner._gradient) for value in given]
                runner._calls.append((step, tuple(seen)))
            try:
                return call(*given)
            except Exception as error:
                for runner in recording:
                    runner._raised = error
                raise

        return recorded

    def _failed(self, error: Exception) -> Outcome:
        rule = self.adapter.refusal(error)
        raised, self._raised = self._raised, None  # its traceback holds what the backward held
        text = str(error)
        if rule is not None:
            return Refused(rule, text)
        if isinstance(error, getattr(self.adapter, "unsupported", NotImplementedError)) or self._lacks(error):
            return Unsupported(text)
        if error is raised and "INTERNAL ASSERT" not in text:  # of torch itself, within what a hook called
            return Refused("hook/error-ends-the-backward", text)
        if getattr(getattr(self.adapter, "capabilities", None), "refusals", "") == "some":
            return Refused("", f"{type(error).__name__}: {text}")
        return Crashed(f"{type(error).__name__}: {text}")

    def _delete(self, args: tuple[Any, ...]) -> Outcome:
        names = [value.name for value in args]
        if any(name not in self.env for name in names):
            return UNBOUND
        for name in names:
            self._forget(name)
            del self.env[name]
        return DONE

    def _modules(self) -> list[str]:
        return [name for name, values in self._plain.items() if values is _OPAQUE]

    def _forget(self, name: str) -> None:
        self._chance.forget(name)
        self._tensors.pop(name, None)
        self._plain.pop(name, None)

    def _bind(self, out: tuple[str, ...], result: Any, opaque: bool, op: str = "") -> Outcome:
        pairs: Any = ((out[0], result),)
        if len(out) > 1 or type(result) is tuple:
            values = result if isinstance(result, (tuple, list)) else (result,)
            if out[-1] == REST:
                out, values = out[:-1], values[: len(out) - 1]
            if len(out) != len(values):
                return UNBOUND  # what Python makes of it: nothing is bound
            pairs = zip(out, values, strict=True)
        env, touched = self.env, self._touched
        chance = inference = False
        if op in GIVE_GRADIENTS or self._chance:
            chance = self._chance.decides(op, touched, self._since)
            inference = self._chance.detaches_inference(op, touched, self._since)
        for name, value in pairs:
            touched[name] = value
            if name in env:
                if env[name] is value:
                    continue
                self._forget(name)
            env[name] = value
            kind = type(value)
            if opaque and value is not None:
                self._plain[name] = _OPAQUE
                self._chance |= {name} if chance else set()
            elif kind in PLAIN or kind is list:
                self._plain[name] = (items(value) if kind is list else value,)
            else:
                self._tensors[name] = value
                try:  # NB: what mostly succeeds, without a call more
                    since = self._counter(value)
                except (RuntimeError, AttributeError) as error:
                    since = self._shown.uncounted(error)
                if chance or type(since) is not int:
                    self._chance.note(name, inference)
                    self._since[name] = since
                else:
                    self._since[name] = 0
        return DONE

    def look(self, grads: bool = True, touched: dict[str, Any] | None = None) -> dict[str, tuple[Any, ...]]:
        """The facts of the live names (or of those ``touched``, which are all alive); `grads` reads those of
        all non-leaves too.
        """
        tensors, plain = self._tensors, self._plain
        if touched is not None:
            if plain:
                tensors = {name: tensors[name] for name in touched if name in tensors}
                plain = {name: plain[name] for name in touched if name in plain}
            else:
                tensors = touched
        if self._observe is not None:
            facts = self._observe(self.session, tensors, self._since, grads)
        else:
            facts = {name: self._shown.facts(value, self._since[name]) for name, value in tensors.items()}
        if self._shown.hidden:
            facts = self._shown.claimed(facts)
        if plain:
            facts |= plain
        return facts
