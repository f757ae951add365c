"""``ops``: list the words of capabilities, which live in ``conformance.adapters.capabilities``."""

from __future__ import annotations

import json as jsons
import textwrap
from typing import Annotated, Any

import typer

from conformance.adapters.capabilities import ALL_DTYPES, MEANINGS, REFUSALS, SHAPES
from conformance.execution.claims import features_of, known_ops
from conformance.program import DELETE
from specs.fact import DECLARED, GRAD_FACTS


def ops(
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the operations that an adapter may claim, each with its keywords and the features that it needs;
    then all features, facts, dtypes, shapes and ways to judge refusals.
    """
    found = vocabulary()
    if json:
        print(jsons.dumps(found, indent=2))
        return
    for op, of_op in found["ops"].items():
        features = f"  [{', '.join(of_op['features'])}]" if of_op["features"] else ""
        keywords = f"({', '.join(of_op['keywords'])})" if of_op["keywords"] else ""
        _tell(f"{op}{keywords}{features}")
    for heading in ("features", "facts", "refusals"):
        print(f"\n{heading}:")
        for name, meaning in found[heading].items():
            _tell(f"  {name}: {meaning}")
    for heading in ("grad_facts", "dtypes", "shapes"):
        print()
        _tell(f"{heading}: {', '.join(found[heading])}")


def vocabulary() -> dict[str, Any]:
    """Return every word that capabilities may hold."""
    return {
        "ops": {
            op: {"keywords": list(keywords), "features": sorted(features_of(op))}
            for op, keywords in sorted(known_ops().items())
            if op != DELETE
        },
        "features": MEANINGS,
        "facts": {fact.name: fact.meaning for fact in DECLARED},
        "grad_facts": list(GRAD_FACTS),
        "dtypes": sorted(ALL_DTYPES),
        "shapes": list(SHAPES),
        "refusals": REFUSALS,
    }


def _tell(line: str) -> None:
    print(textwrap.fill(line, 80, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False))
