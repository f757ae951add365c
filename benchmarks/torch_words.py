"""Put on file how torch words each refusal and warning: ``python -m benchmarks.torch_words``.

Each case is run on torch and on the reference. What both say of the same thing becomes a field that the
reference fills in; numbers and shapes that it does not know become ``...``. The texts go to
``specs/torch_says.toml``. The words of torch alone, case by case, go to ``specs/torch_case_words.json``.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import Any

from conformance.adapters import load
from specs.case import Case, cases, functions, plain_state
from specs.case_words import heard, write_words
from specs.rule import RULES, TORCH_SAYS_FILE

LONGEST = 400
"""The characters of a text after which its last sentences are left out."""

Said = tuple[str, str, dict[str, Any]]
"""A rule, what was said by it, and the details that the reference gives."""


class Listener:
    """A case's ``refused`` and ``warned``: each block is heard, and the case goes on."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.words: list[str] = []
        """The class and first line of each refusal's exception."""

    def __call__(self, rule: str) -> Listener:
        self.rule = rule
        return self

    def __enter__(self) -> None:
        self.catcher = warnings.catch_warnings(record=True)
        self.caught = self.catcher.__enter__()
        warnings.simplefilter("always")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.catcher.__exit__(None, None, None)
        rule = RULES.get(self.rule)
        if rule is not None and not rule.warns:
            self.words.append("" if error is None else heard(error, str(error)))
        if error is not None:
            self.said.append((self.rule, str(error), getattr(error, "details", {})))
        elif rule is not None and rule.warns:
            for warning in (self.caught or ())[:1]:
                self.said.append((self.rule, str(warning.message), {}))
        return True


def listened(case: Case, namespace: Any, cuda: str) -> Listener:
    """Return who heard what is said in a case on a namespace; nothing if it cannot be run."""
    listener = Listener()
    try:
        function = functions(case.chapter, namespace, cuda=cuda)[case.name]
        function.__globals__.update(refused=listener, warned=listener)
        with plain_state(namespace), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    except Exception:
        return Listener()
    return listener


def template(text: str, details: dict[str, Any], patterns: list[str]) -> str:
    """Return torch's text with fields for what the reference knows, and ``...`` for other numbers."""
    literal = set(re.findall(r"\d+", " ".join(re.sub(r"\\d[+*]?", "", p) for p in patterns)))
    text = (
        text.replace("standin", "cuda")
        .split("\nException raised from")[0]
        .split(" (Triggered internally at")[0]
    )
    text = re.sub(r'"/\S*/(\w+\.\w+)":\d+', r"\1", " ".join(text.split())).replace("{", "(").replace("}", ")")
    if len(text) > LONGEST:
        text = re.split(r"(?<=\.) (?=[A-Z])", text[:LONGEST])
        text = " ".join(text[: max(len(text) - 1, 1)])
    for name, value in sorted(details.items(), key=lambda item: -len(str(item[1]))):
        shown = f"torch.{value}" if f"torch.{value}" in text else str(value)
        shown = str(list(value)) if isinstance(value, tuple) else shown
        begins = "" if shown.startswith("[") else r"(?<![\w.])"
        places = list(re.finditer(rf"{begins}{re.escape(shown)}(?![\w])", text))
        if shown and len(places) == 1 and (len(shown) < 60 or shown == text):
            at = places[0].span()
            text = f"{text[: at[0]]}{{{name}}}{text[at[1] :]}"
    text = re.sub(r"\[[\d, ]*\]", "[...]", text)
    text = re.sub(r"0x[0-9a-f]+", "...", text)
    kept = literal | {"0", "1", "2"} if len(text) < 60 else literal
    return re.sub(r"(?<![\w{.#])-?\d+(?![\w}-])(?!\.\d)", lambda m: m[0] if m[0] in kept else "...", text)


def main() -> None:
    """Write the file anew."""
    torch, reference = load("torch"), load("reference")
    import torch as real

    import reference_impl

    real.set_warn_always(True)
    reference_impl.set_warn_always(True)
    found: dict[str, list[str]] = defaultdict(list)
    words: dict[str, list[str]] = {}
    for case in cases():
        if not ("refused(" in case.text or "warned(" in case.text) or torch.beyond(case):
            continue
        ours = listened(case, reference_impl, reference.stands_for_cuda).said
        heard_of_torch = listened(case, real, torch.stands_for_cuda)
        theirs = heard_of_torch.said
        if not case.devices and case.holds_for(torch.version) and not case.departed_by(torch.version):
            words[case.id] = heard_of_torch.words
        if [rule for rule, *_ in ours] != [rule for rule, *_ in theirs]:
            ours = [(rule, "", {}) for rule, *_ in theirs]
        for (rule, text, _), (_, _, details) in zip(theirs, ours, strict=True):
            patterns = [wording.pattern for wording in RULES[rule].wordings]
            if any(re.search(pattern, text, re.DOTALL) for pattern in patterns):
                found[rule].append(template(text, details, patterns))
    head = "# The texts of torch's refusals and warnings. Made by `python -m benchmarks.torch_words`.\n\n"
    order = [rule for rule in RULES if rule in found]
    lines = [
        f'"{rule}" = {json.dumps(max(found[rule], key=found[rule].count), ensure_ascii=False)}'
        for rule in order
    ]
    Path(TORCH_SAYS_FILE).write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    write_words(torch.version.partition("+")[0], {id: said for id, said in words.items() if any(said)})
    print(f"{len(order)} rules, {sum(map(len, words.values()))} refusals in cases")


if __name__ == "__main__":
    main()
