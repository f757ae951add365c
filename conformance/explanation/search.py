"""Finding rules by words: a message of torch of any release, or a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

from specs.rule import RULES, Rule

MOST = 5
STEM = 6
"""The letters by which words are told apart: accumulate, accumulates and accumulation are one."""
_MEANINGLESS = re.compile(
    r"(an?|and|are|as|at|be|but|by|can|cannot|do|does|for|from|how|i|if|in|is|its?|my|no|not|of|on|or|so|that"
    r"|the|there|this|to|when|where|which|why|will|with|your?|me|gets?|got)"
)
_COMMON = {"core": 1.4, "extended": 1.0, "library": 1.0}
"""The weight of a rule by its level: a question is likelier about what every user meets."""
OFTEN = (
    (r"grad\b.*\bnone|no grad(ient)?s?\b(?! mode)|not get.*grad|grad.*(missing|empty)",
     "grad/only-leaves-are-filled grad/plain-leaves-get-none device/copy-is-an-op detach/cuts "
     "nn/zero-grad-forgets"),
    (r"\bcuda\b.*(leaf|grad)|(leaf|grad).*\b(cuda|gpu|device)\b",
     "device/copy-is-an-op device/made-there-is-a-leaf nn/to-swaps-data"),
    (r"freez|frozen",
     "nn/freezes-the-parameters-themselves optim/steps-what-it-was-given optim/skips-what-has-no-grad"),
    (r"accumulat|zero_grad|add(s|ed)? up|doubl(e|ing) grad",
     "grad/accumulates nn/zero-grad-forgets grad/accumulates-in-place"),
    (r"detach.*\bdata\b|\bdata\b.*detach",
     "detach/cuts data/cuts version/shared-by-detach version/data-has-its-own"),
    (r"retain_?\s?graph|second time|backward.*twice",
     "save/freed-refused backward/retain-graph-keeps backward/frees-saved"),
    (r"retain_?grad\b", "retain/fills-grad retain/flag retain/needs-requires-grad"),
    (r"in-?place|modif",
     "save/modified-refused write/leaf-refused write/view-of-leaf-refused version/write-bumps"),
    (r"no_grad.*eval|eval.*no_grad", "nn/train-is-a-flag-of-all-modules mode/no-grad-records-nothing"),
    (r"\bleaf\b",
     "leaf/op-result-is-no-leaf leaf/no-history-without-requires-grad requires_grad/flag-at-creation "
     "write/leaf-refused optim/needs-leaves"),
    (r"numpy", "copy/numpy-refused-with-grad copy/numpy-shares copy/from-numpy-shares"),
    (r"deep_?copy", "copy/deepcopy-of-a-result-refused copy/deepcopy-takes-the-grad-along"),
    (r"scalar", "backward/implicit-needs-scalar backward/gradient-is-upstream"),
)  # fmt: skip
"""Questions that are often asked, as patterns, and the rules that answer them."""
_SAME = {
    "gradient": "grad", "gradients": "grad", "grads": "grad", "leaves": "leaf", "inplace": "place",
    "modified": "write", "modifying": "write", "written": "write", "modify": "write", "writes": "write",
    "twice": "second", "parameters": "parameter", "params": "parameter", "tensors": "tensor", "empty": "none",
    "missing": "none", "gpu": "device", "cuda": "device", "warning": "warns", "copied": "copy",
    "deep": "deepcopy",
    "accumulation": "accumulate", "frozen": "freeze", "detached": "detach", "unused": "depend",
}  # fmt: skip


def rules_saying(message: str) -> list[Rule]:
    """Return the rules whose wording in some release of torch a message has, or else those that come near."""
    text = re.sub(r"^\s*(?:\w+\.)*\w*(?:Error|Warning|Exception)\s*:\s*", "", " ".join(message.split()))
    hits = [
        rule
        for rule in RULES.values()
        if any(wording.regex.search(text) for wording in rule.wordings)
        or (rule.says and len(text) > 12 and _plain(text) in _plain(rule.says))
        or (rule.torch_says and len(text) > 12 and _plain(text) in _plain(rule.torch_says))
    ]
    return hits or rules_about(text, spoken=True)


def rules_about(question: str, spoken: bool = False) -> list[Rule]:
    """Return the rules that a question is about, the likeliest first; ``spoken``: that refuse or warn."""
    asked = [RULES[r] for words, rules in OFTEN if re.search(words, question.lower()) for r in rules.split()]
    if asked and not spoken:
        return list(dict.fromkeys(asked))[:MOST]
    words = _words(question)
    weights = _weights()
    scores: list[tuple[float, Rule]] = []
    for rule in RULES.values():
        if spoken and not (rule.refuses or rule.warns):
            continue
        found = _index()[rule.id]
        score = sum(weights.get(word, 0) * min(found[word], 3.0) for word in words if word in found)
        score *= _COMMON.get(rule.level, 1.0) / (8 + sum(found.values()) ** 0.5)
        if score:
            scores.append((score, rule))
    scores.sort(key=lambda pair: -pair[0])
    best = scores[0][0] if scores else 0
    return [rule for score, rule in scores[:MOST] if score > best * 0.45]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _words(text: str) -> list[str]:
    found = re.findall(r"[a-z]+", text.lower().replace(".grad", " grad "))
    return [_SAME.get(word, word)[:STEM] for word in found if not _MEANINGLESS.fullmatch(word)]


@cache
def _index() -> dict[str, Counter[str]]:
    """The words of each rule: those of its id and statement count most."""
    index: dict[str, Counter[str]] = {}
    for rule in RULES.values():
        counts: Counter[str] = Counter()
        parts = (
            (rule.id.replace("/", " "), 1.5),
            (rule.statement, 2),
            (rule.torch_says, 1),
            (rule.cure or "", 0.5),
        )
        for text, weight in (*parts, (rule.cure or "", 0.5), (rule.catches, 0.3)):
            for word in _words(text):
                counts[word] += weight  # type: ignore[assignment]  # a weight may be a fraction
        index[rule.id] = counts
    return index


@cache
def _weights() -> dict[str, float]:
    """The weight of each word: the rarer, the more it says."""
    counts = Counter(word for counts in _index().values() for word in counts)
    return {word: math.log(len(RULES) / count) for word, count in counts.items()}
