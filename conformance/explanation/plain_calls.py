"""Errors of calls that have no rule: words that everybody meets, and numbers taken for tensors."""

from __future__ import annotations

import ast
import re

from conformance.explanation.history import last_with
from conformance.explanation.value import Mishap, Story
from conformance.explanation.words import at

CURES: dict[str, str] = {
    r"^Found dtype (Long|Int|Bool) but expected (Float|Double)": "Give the target as floats: target.float(), "
    "or target.double() beside doubles.",
    r"^0D or 1D target tensor expected, multi-target not supported": "Give one class index for each sample, "
    "of shape (N,): target.squeeze(1) of shape (N, 1), target.argmax(1) of one-hot rows.",
    r"^expected (scalar type|target dtype to be) Long": "Give class indices as integers: target.long().",
    r"^Expected floating point type for target with class probabilities": "Give probabilities as floats, "
    "target.float(); or class indices of shape (N,).",
    r"^(Target size \(.*\) must be the same as input size|Using a target size .* that is different to the "
    r"input size)": "Give both the same shape: output.squeeze(1), or target.unsqueeze(1).",
    r"^result type \w+ can't be cast to the desired output type (Long|Int|Bool)": "Give the target as "
    "floats: target.float().",
    r"^cannot assign (module|parameters?|buffer) before Module.__init__\(\) call": "Call super().__init__() "
    "first of all in __init__().",
    r"expected input\[.*\] to have \d+ channels, but got \d+ channels instead": "Put the channels second, "
    "(N, C, H, W): x.permute(0, 3, 1, 2) of images (N, H, W, C); or give the layer other in_channels.",
    r"^index out of range in self": "Give the layer as many rows as the largest index plus one: "
    "num_embeddings counts from 0.",
    r"^Input type \(.*\) and (bias|weight) type \(.*\) should be the same": "Cast the input to the layer's "
    "dtype, for instance x.float(); or the module to the input's.",
    r"^(mixed dtype \(CPU\)|prelu: Type promoting not supported)": "Cast the input to the layer's dtype, for "
    "instance x.float(); or the module to the input's.",
    r"^loaded state dict (contains a parameter group|has a different number of)": "Load it into an optimizer "
    "of as many parameters, in as many groups, as the saved one.",
    r"^Expected tensor for argument #\d+ 'indices' to have one of": "Give indices as integers: ids.long().",
    r"step\(\) missing 1 required positional argument: 'closure'": "Give step() a function that clears the "
    "grads, computes the loss, calls backward() on it and returns it.",
    r"^Detected call of `lr_scheduler.step\(\)` before": "Call optimizer.step() first, then step() of the "
    "schedule.",
    r"^Expected hidden(\[\d\])? size": "Give a state of shape (num_layers * directions, batch, hidden_size); "
    "the batch stands second there, also with batch_first=True.",
    r"^all elements of input should be between 0 and 1": "Give probabilities: torch.sigmoid(output); or take "
    "nn.BCEWithLogitsLoss for scores.",
    r"^Expected more than 1 value per channel when training": "Give batch normalisation more than one sample "
    "in training (drop_last=True in the DataLoader), or call eval() on the module to predict.",
    r"object does not support the context manager protocol|^__enter__$": "Call it: with torch.no_grad(): in "
    "the place of with torch.no_grad:.",
    r"^'tuple' object has no attribute": "Unpack what the call gave, which is several values: (output, "
    "state) of nn.LSTM, nn.GRU and nn.RNN, (values, indices) of max() over a dimension.",
    r"^running_mean should contain (\d+) elements": "Give batch normalisation as many features as its "
    "input has channels, in dimension 1.",
    r"^Implicit dimension choice for": "Name the dimension: dim=1 for scores (N, classes), "
    "dim=-1 for the last.",
    r"Kernel size can't be greater than actual input size": "Give an input at least as large as the "
    "kernel, a smaller kernel_size, or padding=.",
    r"^input.size\(-1\) must be equal to input_size": "Give the layer the last size of its input as "
    "input_size.",
    r"^grad_and_value\(f\)\(\*args\): Expected f\(\*args\) to return a scalar": "Reduce the result to one "
    "number, with sum() or mean(); torch.func.jacrev() gives the derivatives of each.",
    r"^Legacy autograd function with non-static forward": "Make forward and backward static methods "
    "(@staticmethod) that take ctx first, and call apply() of the class, not an object of it.",
    r"^Expected target size": "Give scores of shape (N, classes, d1, ...) and classes of shape (N, d1, ...).",
}
"""Cures of errors, by the beginning of their text."""
_NO_TENSOR = re.compile(r"expected Tensor as element \d+ in argument \d+, but got (float|int)")
_LACKING = re.compile(r"'(float|int)' object has no attribute '(\w+)'")
_TO_NUMBERS = ("item", "float", "int", "tolist")


def plain_cure(mishap: Mishap) -> str:
    """Return the cure of an error that has no rule, or nothing."""
    return next((cure for words, cure in CURES.items() if re.search(words, mishap.message)), "")


def plain_number(found: Story, mishap: Mishap) -> tuple[list[int], str, str] | None:
    """Return where the number came from of which a failing line asks what tensors have, and the cure; None
    if that is not the error.
    """
    lacking = _LACKING.match(mishap.message)
    if not 0 < mishap.line <= len(found.source):
        return None
    if mishap.kind == "ValueError" and "ctx.saved_tensors" in found.source[mishap.line - 1]:
        return _not_saved(found, mishap)
    if mishap.kind in ("AttributeError", "TypeError") and "NoneType" in mishap.message:
        return _without_return(found)
    if _NO_TENSOR.match(mishap.message):
        return _list_of_numbers(found, mishap)
    if lacking is None:
        return None
    asked = re.search(rf"([A-Za-z_]\w*)\.{lacking[2]}\b", found.source[mishap.line - 1])
    if asked is None or last_with(found, asked[1]) is not None:
        return None
    assigned = re.compile(rf"^\s*{asked[1]}\s*[-+*/]?=[^=]")
    called = {name for line in found.source if assigned.match(line) for name in re.findall(r"(\w+)\(", line)}
    for step in reversed(found.steps):
        ways = [flow.how for flow in step.flows if flow.how in _TO_NUMBERS and not flow.gives]
        if ways and (step.function in called or assigned.match(found.source[step.line - 1])):
            number = f"{asked[1]} is a plain number: {at(found, step.line)} made one with {ways[0]}()"
            cure = (
                f"Keep the tensor at line {step.line}, without {ways[0]}(); take the number only to print it."
            )
            return [step.line], f"{number}, which left the graph.", cure
    return None


def _not_saved(found: Story, mishap: Mishap) -> tuple[list[int], str, str] | None:
    """Return where a forward() should save what its backward() takes, and the cure."""
    count = re.search(r"expected (\d+)(?:, got (\d+))?", mishap.message)
    line = next((s.line for s in reversed(found.steps) if s.function == "forward"), 0)
    if count is None or not line:
        return None
    told = f"backward() takes {count[1]} saved tensors, and forward() saved {count[2] or 'more'}."
    cure = "Save in forward(), before its return, what backward() takes: ctx.save_for_backward(...)."
    return [line, mishap.line], told, cure


def _without_return(found: Story) -> tuple[list[int], str, str] | None:
    """Return the line of a forward() that returns nothing, and the cure."""
    for function in ast.walk(ast.parse("\n".join(found.source))):
        if isinstance(function, ast.FunctionDef) and function.name == "forward":
            ends = (ast.Return, ast.Yield, ast.YieldFrom, ast.Raise)
            if not any(isinstance(part, ends) for part in ast.walk(function)):
                told = f"forward() of line {function.lineno} returns nothing, which gives None."
                return (
                    [function.lineno],
                    told,
                    f"Return the result at its end, after line {function.body[-1].lineno}.",
                )
    return None


def _list_of_numbers(found: Story, mishap: Mishap) -> tuple[list[int], str, str] | None:
    """Return where the numbers came from that a list holds in the place of tensors, and the cure."""
    for name in re.findall(r"(?<![.\w])([A-Za-z_]\w*)\b(?!\s*[(.])", found.source[mishap.line - 1]):
        filled = re.compile(rf"(?<![.\w]){name}\s*(\.(append|extend|insert)\(|\+?=[^=])")
        for step in reversed(found.steps):
            ways = [flow.how for flow in step.flows if flow.how in _TO_NUMBERS and not flow.gives]
            if ways and step.line != mishap.line and filled.search(found.source[step.line - 1]):
                text = f"{name} holds plain numbers: {at(found, step.line)} made them with {ways[0]}()."
                cure = (
                    f"Keep the tensors at line {step.line}, without {ways[0]}(); take numbers only to print."
                )
                return [step.line], text, cure
    return None
