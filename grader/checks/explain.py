"""Says in words what an exception of the student's code means."""

from __future__ import annotations

import re

from grader.box.observations import Blame, Raised, Stage
from grader.checks.finding import cut

_WHERE = {
    Stage.LOAD: "while your file was being loaded",
    Stage.CONSTRUCT: "in your constructor",
    Stage.TRANSFER: "while your weights were being set",
    Stage.CALL: "in your code",
    Stage.BACKWARD: "in the backward pass",
}
_HINTS = {
    "ModuleNotFoundError": "only torch, numpy, einops and Python's standard library are available",
    "RecursionError": "infinite recursion: a function calls itself without end",
    "TabError": "indent with spaces only, four for each level",
    "EOFError": "nobody can type anything while your code is graded; remove `input()`",
}
# What autograd says of an operation in place after its first clause: the inner names and versions of tensors.
_TECHNICAL = re.compile(r"(?<=modified by an inplace operation):.*", re.DOTALL)
# What einops says before the cause: a shape that is told anyway, and lengths that stand in the code.
_OF_EINOPS = re.compile(r"Error while processing \S+ pattern (\".*?\")\. Input .*? Additional info: \{.*?\}\. (?=\S)")
_OVERWRITTEN = (
    "a tensor that the backward pass needs was overwritten. Look for operators such as `x /= y`, for operations that "
    "end in an underscore, as `x.exp_()`, and for `x[...] = ...`; make a new tensor instead, as in `x = x / y`"
)
# What to do, by words of a message in small letters; the first that fits.
_BY_WORDS = {
    "before module.__init__() call": "call `super().__init__()` first, before you assign layers",
    "has no attribute '_backward_hooks'": "call `super().__init__()` first in your `__init__`",
    "operation not permitted": "there are no files, no network and no other processes while your code is graded",
    "can't start new thread": "there are no threads while your code is graded",
    "/dev/urandom": "give a seed yourself, as in `manual_seed(0)`",
    "view size is not compatible": "after a transpose, call `.contiguous()` first or use `.reshape`",
    "without overflow": 'that number is out of range in half precision; use float("-inf") or torch.finfo(dtype).min',
}


def explain(raised: Raised) -> str:
    """Return a sentence: what was raised, where, at which line, and what to do about it."""
    cell = f" of cell {raised.cell}" if raised.cell else ""
    place = f"line {raised.line}{cell}" if raised.line else ""
    line = f", {place}" if place else ""
    if raised.blame in (Blame.ARGUMENT, Blame.WEIGHTS, Blame.ENTRY):
        return raised.message
    if raised.blame is Blame.FORBIDDEN:
        return f"{raised.message}{f' ({place})' if place else ''}"
    text = cut(message_of(raised), 300)
    said = f"{raised.type}: {text}" if text else raised.type
    hint = hint_of(raised)
    return f"{said} ({_WHERE[raised.stage]}{line})" + (f"; {hint}" if hint else "")


def message_of(raised: Raised) -> str:
    """Return the message of an exception in one line, without what a library puts before or behind the cause."""
    return _OF_EINOPS.sub(r"\1: ", _TECHNICAL.sub("", " ".join(raised.message.split())))


def hint_of(raised: Raised) -> str:
    """Return what to do about an exception; empty where its message says enough."""
    if raised.type == "NotImplementedError" and not raised.message.strip():
        return "write your code here"  # a starter's says so itself, and torch raises it with another meaning
    if raised.type in _HINTS:
        return _HINTS[raised.type]
    message = raised.message.lower()
    if "allocate memory" in message or raised.type == "MemoryError":
        return "your code needed more memory than a submission may use"
    if raised.stage is Stage.BACKWARD and "modified by an inplace operation" in message:
        return _OVERWRITTEN
    if any(text in message for text in ("same device", "device type tensor", "compiled with cuda", "no nvidia driver")):
        return "create new tensors on the input's device, `device=x.device`, or register them as buffers of the module"
    return next((hint for words, hint in _BY_WORDS.items() if words in message), "")
