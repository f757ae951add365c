"""Adapters that do nothing but what a test has them do."""

from __future__ import annotations

from conformance.program.parsing import parse

PROGRAM = parse(
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x.mul(2.0)\nz = y.sum()\nz.backward()\n"
)

PLAIN = """
import ctypes, os, signal, sys, threading, time
name, version = "mine", "1"
class Value: pass
def start(): return None
def perform(session, step, operands): {perform}
def facts(session, value): {facts}
def refusal(error): {refusal}
{more}
"""


def adapter(**parts: str) -> str:
    """The text of an adapter that does nothing but what its parts say."""
    given = {
        "perform": "return Value()",
        "facts": "return {'is_leaf': True}",
        "refusal": "return None",
        "more": "",
    }
    return PLAIN.format(**given | parts)


COMPARISON_REPLACED = """
import conformance.comparison.compare as c
c.compare = lambda *a, **k: c.Agree(99)
"""
