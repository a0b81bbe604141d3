"""What a submission finds without asking for Python's internals leads to nothing of ours that keeps anything."""

from __future__ import annotations

from grader.sandbox.runner import Sandbox
from tests.sandbox.cheats import LIMITS, plan

# It follows attributes, containers, bound methods and slots from all modules; frames, and the names and cells of
# functions, it leaves alone, since whoever asks for those is noticed.
_WALK = """
import sys, types
import torch

_CONTAINERS = (list, tuple, set, frozenset)
_PLAIN = (str, int, float, bool, bytes, type(None))

def inside(thing):
    kind = type(thing)
    if kind in (dict, types.MappingProxyType):
        yield from thing.values()
    elif kind in _CONTAINERS:
        yield from thing
    elif kind is types.FunctionType:
        yield from (thing.__dict__, thing.__defaults__, thing.__kwdefaults__)
    elif kind in (types.MethodType, types.BuiltinMethodType):
        yield from (thing.__self__, getattr(thing, "__func__", None))
    elif kind is property:
        yield from (thing.fget, thing.fset)
    elif kind in (classmethod, staticmethod):
        yield thing.__func__
    else:
        try:
            yield object.__getattribute__(thing, "__dict__")
        except AttributeError:
            pass
        for owner in type.__mro__.__get__(kind):
            for slot in vars(owner).values():
                if type(slot) is types.MemberDescriptorType:
                    try:
                        yield slot.__get__(thing, kind)
                    except (AttributeError, TypeError):
                        pass

def home(kind):
    module = vars(kind).get("__module__")
    return module.partition(".")[0] if isinstance(module, str) else ""

def found():
    waiting, seen = [sys.modules], {}
    while waiting:
        thing = waiting.pop()
        if type(thing) in _PLAIN or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if home(type(thing)) == "grader":
            yield type(thing).__qualname__
        try:
            waiting.extend(inside(thing))
        except Exception:
            pass

print("FOUND", *sorted(set(found())))

def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
"""
# Without state that matters: what stands for a module or function that is not here, and what takes prints.
_HARMLESS = {"_End", "Off", "StandIns", "_Prints"}


def test_no_state_of_ours_is_in_sight_of_a_submission(sandbox: Sandbox) -> None:
    """Neither the log of traps, nor the way out, nor the plan; all that keeps them is closures and frames."""
    run = sandbox.run(plan("attention"), _WALK, LIMITS)

    assert "FOUND" in run.output, run
    assert set(run.output.partition("FOUND")[2].split("\n")[0].split()) - _HARMLESS == set()
