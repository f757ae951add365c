"""Rules that programs confirm: what an implementation shows decides."""

from dataclasses import replace

from conformance import adapters
from conformance.execution.run import run
from conformance.grading.confirm import needed_to_tell, without
from conformance.program.parsing import parse

TWICE = """
a = torch.tensor(2.0, requires_grad=True)
b = a.neg()
b.backward(retain_graph=True)
b.backward()
"""


def test_what_an_answer_leaves_out_is_needed():
    """A name whose facts an answer leaves out is unseen: its rule is not held, and nothing breaks."""
    program = parse(TWICE)
    reference = run(program, adapters.load("reference"))
    mutant = without("grad/accumulates", reference)
    observations = tuple(seen._replace(facts={}) for seen in reference.observations)
    blind = replace(reference, observations=observations, loose=True)

    assert needed_to_tell(reference, mutant, reference, last=3) == ""
    assert needed_to_tell(reference, mutant, blind, last=3) == "needs a.grad.value"
