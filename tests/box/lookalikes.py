"""Calls every function of torch that a child can reach, and says which behave like a forbidden operation; prints JSON.

A function is called with arguments that fit the names of its parameters, and with a few in their usual order; a class
is made first. What it returns is compared with softmax, its logarithm, the logarithm of the sum, attention and dropout.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import resource
import select
import signal
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

_SECONDS = 0.25  # for one call; what takes longer computes no softmax of fifteen numbers
_STRETCH_SECONDS = 10.0  # for a few hundred calls
_GENERATOR = torch.Generator().manual_seed(7)
X = torch.randn(3, 5, dtype=torch.float64, generator=_GENERATOR)
Q, K, V = (torch.randn(1, 2, 3, 4, dtype=torch.float64, generator=_GENERATOR) for _ in range(3))
_ANSWERS = {
    "softmax": (torch.softmax(X, -1), torch.softmax(-X, -1), torch.log_softmax(X, -1), torch.logcumsumexp(X, -1)),
    "softmax of rows": (torch.logsumexp(X, -1), torch.logsumexp(X, -1, keepdim=True)),
    "attention": (torch.nn.functional.scaled_dot_product_attention(Q, K, V),),
}
_SKIPPED = ("torch.hub", "torch.multiprocessing", "torch.cuda", "torch.testing._internal", "torch.profiler")
_NAMED: dict[str, Any] = {
    **dict.fromkeys(("a", "x", "input", "self", "tensor", "logits", "inp", "values", "data"), X),
    **dict.fromkeys(("dim", "axis", "dims"), -1),
    **dict.fromkeys(("p", "probability"), 0.5),
    **dict.fromkeys(("train", "training"), True),
    **dict.fromkeys(("half_to_float", "inplace", "is_causal", "keepdim"), False),
    "query": Q,
    "key": K,
    "value": V,
    "q": Q,
    "k": K,
    "v": V,
    "target": torch.zeros(3, dtype=torch.int64),
}


def candidates() -> list[tuple[str, Callable[..., Any]]]:
    """Return every function and class in the modules of torch that are loaded, each once, with a path to it."""
    found: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module, content in sorted(sys.modules.items()):
        if module.partition(".")[0] == "torch" and not module.startswith(_SKIPPED):
            for path, thing in _inside(module, content):
                if isinstance(thing, types.FunctionType | type):  # the others end in the dispatcher
                    found.setdefault(id(thing), (path, thing))
    return list(found.values())


def _inside(module: str, content: Any) -> Iterator[tuple[str, Any]]:
    for name, thing in list(getattr(content, "__dict__", {}).items()):
        yield f"{module}.{name}", thing
        if isinstance(thing, type) and thing.__module__.startswith("torch"):
            for inner, part in list(vars(thing).items()):
                yield f"{module}.{name}.{inner}", getattr(part, "__func__", part)
        elif isinstance(thing, dict):  # tables of decompositions, kernels, overrides
            yield from ((f"{module}.{name}[{key!s}]", part) for key, part in list(thing.items()))


def _calls(thing: Callable[..., Any]) -> Iterator[Callable[[], Any]]:
    if isinstance(thing, type):
        yield lambda: thing()(X)
        yield lambda: thing(-1)(X)
        yield lambda: thing(logits=X).probs
        return
    with contextlib.suppress(ValueError, TypeError):
        wanted = [
            one for one in inspect.signature(thing).parameters.values() if one.default is one.empty and one.kind < 2
        ]
        given = [_NAMED.get(one.name, types.SimpleNamespace(dim=-1, p=0.5, training=True)) for one in wanted]
        yield lambda: thing(*given)
    yield lambda: thing(X.clone())
    yield lambda: thing(X.clone(), -1)
    yield lambda: thing(X.clone(), 0.5, True)
    yield lambda: thing(Q, K, V)


def likeness(result: Any) -> str:
    """Return which forbidden operation a result could come from; empty if from none."""
    for part in result[:3] if isinstance(result, tuple | list) else [result]:
        if isinstance(part, Tensor) and part.layout is torch.strided and part.is_floating_point():
            for name, answers in _ANSWERS.items():
                if any(part.shape == one.shape and torch.allclose(part.detach().double(), one) for one in answers):
                    return name
            if part.shape == X.shape and part.any() and not part.all() and bool(((part == 0) | (part == 2 * X)).all()):
                return "dropout"
    return ""


class _LateError(BaseException):
    """A call took too long."""


def _late(*_: object) -> None:
    raise _LateError


def _behaviour(thing: Callable[..., Any]) -> str:
    """Return what a function behaves like in any of its calls."""
    for call in _calls(thing):
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)
        try:
            if found := likeness(call()):
                return found
        except BaseException:  # noqa: BLE001  # most cannot be called like this
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def search(things: list[tuple[str, Callable[..., Any]]]) -> dict[str, str]:
    """Return those that behave like a forbidden operation; tried in forks, since some end the process."""
    found: dict[str, str] = {}
    begin = 0
    while begin < len(things):
        with tempfile.TemporaryFile() as notes:
            child = os.fork()
            if child == 0:
                _try_on(things, begin, notes.fileno())
            pidfd = os.pidfd_open(child)
            if not select.select([pidfd], [], [], _STRETCH_SECONDS)[0]:
                os.kill(child, signal.SIGKILL)  # it waits for something that never comes
            os.close(pidfd)
            os.waitpid(child, 0)
            notes.seek(0)
            lines = notes.read().decode().splitlines()
        found |= {things[int(at)][0]: name for at, name in (line.split(" ", 1) for line in lines) if name}
        begin = int(lines[-1].split(" ", 1)[0]) + 1 if lines else begin + 1
    return found


def _try_on(things: list[tuple[str, Callable[..., Any]]], begin: int, notes: int) -> None:
    """Try a stretch, in a process that can do little else; note before each what comes next, then what it is like."""
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        signal.signal(signal.SIGALRM, _late)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        for index in range(begin, min(begin + 500, len(things))):  # a fork each, since some change torch's settings
            os.write(notes, f"{index} \n".encode())
            if found := _behaviour(things[index][1]):
                os.write(notes, f"{index} {found}\n".encode())
    finally:
        os._exit(0)


if __name__ == "__main__":
    from grader.box import traps
    from grader.sandbox.warmup import warm_up
    from tests.box.trap_routes import in_a_fork

    warnings.simplefilter("ignore")
    warm_up()
    everything = candidates()
    free = in_a_fork(lambda: (traps.install(()), search(everything))[1])  # without the traps of the zygote
    traps.install(tuple(traps.GROUPS))
    again = [(path, thing) for path, thing in everything if path in free]
    print(json.dumps({"tried": len(everything), "free": free, "through": search(again)}))
