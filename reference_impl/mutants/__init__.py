"""Mutants: what the machine does while a rule is knocked out, where leaving out a line does not tell it.

Most rules stand in the machine as ``if by(rule):`` before an action. Where the absence of a rule needs code
of its own, that code is here, and replaces a function of the machine while the rule is not in force. The
mark ``by(rule)`` stays in the machine, on the line that embodies the rule; a mutant makes the mark itself if
it does not call the function that it replaces.
"""

from reference_impl.mutants import aliases, core, torch_autograd
from reference_impl.mutants.replacing import replace
from specs.active_rules import on_change

__all__ = ["aliases", "core", "torch_autograd"]

on_change(replace)
