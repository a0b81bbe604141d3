"""What leads to Python's internals is noticed while it is asked for, whatever spells it; and honest code is not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from grader.box.observations import TrapHit
from grader.box.run import Ending
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import Sight
from grader.sandbox.plain import PlainBox
from grader.sandbox.runner import Sandbox
from tests.sandbox.cheats import LIMITS, plan

_SETUP = """
import functools, inspect, io, logging, string, sys, traceback, types, typing
import numpy as np
import torch

def raised():
    try:
        1 / 0
    except ZeroDivisionError as error:
        return error.__traceback__

def numbers():
    yield 1

async def awaited():
    pass

async def streamed():
    yield 1

class Any_:
    pass

class Loop:  # as much of one as a task of asyncio's needs
    is_running = is_closed = get_debug = lambda self: False
    def call_soon(self, step, *given, context=None):
        self.step = step

def framed():  # gives a frame that a library hands out
    import asyncio
    frames, loop = [], Loop()
    async def look():
        frames.extend(task.get_stack())
    task = asyncio.Task(look(), loop=loop)
    loop.step()
    return frames[-1]

def made(text):  # gives the module that a loader makes of a text
    import importlib.abc
    class Loader(importlib.abc.SourceLoader):
        get_filename = lambda self, name: inspect.__file__
        get_data = lambda self, path: text.encode()
    module = types.ModuleType("made")
    module.__spec__ = None
    Loader().exec_module(module)
    return module

def kept(thing, name):
    holder = Any_()
    functools.update_wrapper(holder, thing, (name,), ())
    return holder.__dict__[name]
"""
# What leads to Python's internals: an object, and the attribute of it, in two parts.
_ATTRIBUTES = {
    "tb_frame": ("raised()", "tb_", "frame"),
    "gi_frame": ("numbers()", "gi_", "frame"),
    "gi_code": ("numbers()", "gi_", "code"),
    "cr_frame": ("awaited()", "cr_", "frame"),
    "ag_frame": ("streamed()", "ag_", "frame"),
    "__code__": ("raised", "__co", "de__"),
    "__globals__": ("raised", "__glo", "bals__"),
    "__builtins__": ("raised", "__buil", "tins__"),
    "__closure__": ("raised", "__clo", "sure__"),
    "f_globals": ("framed()", "f_glo", "bals"),
    "f_builtins": ("framed()", "f_buil", "tins"),
    "f_locals": ("framed()", "f_lo", "cals"),
    "f_back": ("framed()", "f_ba", "ck"),
}
_ASKED = {
    "plainly": "{0}.{1}{2}",
    "by getattr": "getattr({0}, '{1}' + '{2}')",
    "by getattr as a value": "[*map(getattr, [{0}], ['{1}' + '{2}'])][0]",
    "by a caller": "functools.reduce(getattr, ['{1}' + '{2}'], {0})",
    "by its own method": "type({0}).__getattribute__({0}, '{1}' + '{2}')",
    "by an operator": "__import__('operator').attrgetter('{1}' + '{2}')({0})",
    "by a format": "string.Formatter().get_field('0.' + '{1}' + '{2}', ({0},), {{}})[0]",
    "by a wrapper": "kept({0}, '{1}' + '{2}')",
    "by a library": "np.fromiter(map(getattr, [{0}], ['{1}' + '{2}']), object)",
}
_TEXT = "text that is run as code"
_OTHERS = {
    "exec": ("exec('1')", _TEXT),
    "eval": ("eval('1')", _TEXT),
    "compile": ("compile('1', 'inspect.py', 'eval')", _TEXT),
    "a reference in a type": ("typing.get_args(typing.List['1 and int'])[0]._evaluate({}, {}, frozenset())", _TEXT),
    "an annotation": (
        "setattr(numbers, '__anno' + 'tations__', {'a': 'int'}) or inspect.signature(numbers, eval_str=True)",
        _TEXT,
    ),
    "a graph": (
        "(lambda g: g.output(1) and torch.fx.GraphModule(torch.nn.Module(), g)())(torch.fx.Graph())",
        _TEXT,
    ),
    "a file of NumPy's": (
        "(lambda f: (np.save(f, np.array([max], object), allow_pickle=True), f.seek(0), np.load(f, allow_pickle=True)))"
        "(io.BytesIO())",
        "pickled objects",
    ),
    "a file of torch's": (
        "(lambda f: (torch.save(max, f), f.seek(0), torch.load(f, weights_only=False)))(io.BytesIO())",
        "pickled objects",
    ),
    "a function of a code": (
        "type(numbers)(getattr(numbers, '__co' + 'de__'), {})",
        "code that is put together",
    ),
    "a code of a code": ("getattr(numbers, '__co' + 'de__').replace(co_name='a')", "code that is put together"),
    "a code put in": ("setattr(numbers, '__co' + 'de__', getattr(awaited, '__co' + 'de__'))", "__code__"),
    "a tracer": ("sys.settrace(None)", "sys.settrace"),
    "a profiler": ("sys.setprofile(None)", "sys.setprofile"),
    "a hook": ("sys.addaudithook(print)", "sys.addaudithook"),
    "a frame": ("getattr(sys, '_get' + 'frame')()", "sys._getframe"),
    "all frames": ("sys._current_frames()", "sys._current_frames"),
    "a frame of inspect's": ("inspect.currentframe()", "sys._getframe"),
    "a stack of inspect's": ("inspect.getinnerframes(raised())", "tb_frame"),
    "a frame of logging's": ("logging.currentframe()", "sys._getframe"),
    "a walk": ("next(traceback.walk_tb(raised()))", "tb_frame"),
    "a text of a loader": ("made('1')", _TEXT),
    "a code of a loader": (
        "type('Loader', (__import__('importlib.abc').abc.SourceLoader,), "
        "{'get_filename': lambda *_: inspect.__file__, 'get_data': lambda *_: b'1'})().get_code('')",
        _TEXT,
    ),
}
_HONEST = """
import abc, collections, copy, dataclasses, enum, functools, inspect, logging, timeit, traceback, tracemalloc, typing
import warnings
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

Point = collections.namedtuple("Point", "a b")
Kind = enum.Enum("Kind", "a b")
T = typing.TypeVar("T")

class Named(typing.NamedTuple):
    a: int

@dataclasses.dataclass
class Config:
    a: int = 1
    b: "list[int]" = dataclasses.field(default_factory=list)

class Base(abc.ABC):
    @abc.abstractmethod
    def f(self): ...

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def forward(self, x): return self.inner(x)

@torch.jit.script
def scripted(x, y: float):
    return torch.relu(x) * y

@functools.wraps(scripted)
def wrapped(x): return x

torch.autograd.set_detect_anomaly(True)
tracemalloc.start()
print(tracemalloc.get_traced_memory())
tracemalloc.stop()

def attend(q, k, v):
    logging.warning("a", stack_info=True)
    warnings.warn("b")
    try:
        1 / 0
    except ZeroDivisionError as error:
        traceback.print_exc()
        print(error.__traceback__.tb_lineno)
    print(inspect.signature(attend), repr(Layer()), copy.deepcopy(Layer()), Config(), Point(1, 2))
    Base.__subclasses__()
    isinstance([], collections.abc.Sequence), issubclass(Config, collections.abc.Hashable)
    timeit.timeit("1 + 1", number=2), timeit.timeit(lambda: 1, number=2)
    x = torch.ones(2, 4, requires_grad=True)
    checkpoint(torch.tanh, Twice.apply(x), use_reentrant=False).sum().backward()
    torch.func.vmap(torch.func.grad(lambda row: (row**2).sum()))(x.detach())
    torch.jit.script(Layer()), torch.jit.trace(lambda x: x * 2, x.detach()), scripted(x, 2.0)
    nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    torch.optim.Adam(Layer().parameters()).step()
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
"""


def _noticed(sandbox: Sandbox, source: str) -> tuple[TrapHit, ...]:
    run = sandbox.run(plan("attention"), source, LIMITS)
    assert run.observations.calls, run
    return run.observations.trap_hits


def _asking(expression: str) -> str:
    return f"{_SETUP}\ndef attend(q, k, v):\n    {expression}\n    return torch.softmax(q @ k.mT / 2, dim=-1) @ v\n"


@pytest.mark.parametrize(("name", "way"), [*itertools.product(_ATTRIBUTES, _ASKED)])
def test_what_leads_to_internals_is_noticed_however_it_is_asked_for(name: str, way: str, sandbox: Sandbox) -> None:
    """With its line; the function is let through, and nothing is trapped."""
    owner, head, tail = _ATTRIBUTES[name]
    asked = _ASKED[way].format(owner, head, tail)

    hits = _noticed(sandbox, _asking(asked))

    assert name in {hit.what for hit in hits}, hits
    assert all(hit.noticed and hit.line for hit in hits)


@pytest.mark.parametrize("name", _OTHERS)
def test_text_that_is_run_and_frames_that_are_handed_out_are_noticed(name: str, sandbox: Sandbox) -> None:
    """By whatever of Python's library, NumPy and torch."""
    expression, what = _OTHERS[name]

    hits = _noticed(sandbox, _asking(expression))

    assert what in {hit.what for hit in hits if hit.noticed}, hits


def test_no_collection_runs_code_while_somebody_is_looked_at(sandbox: Sandbox) -> None:
    """Whatever allocation of ours or of a library's begins it, a callback that asks for a frame is noticed."""
    source = """
import gc, inspect, sys
frames = []

def called(phase, counts):
    if phase == "start" and not frames:
        frames.append(getattr(sys, "_get" + "frame")())

def plain():
    pass

def attend(q, k, v):
    gc.collect(0)
    gc.callbacks.append(called)
    gc.set_threshold(COUNT)
    inspect.signature(plain)
    gc.set_threshold(0)
    print(len(frames))
    return q
"""
    runs = [sandbox.run(plan("attention"), source.replace("COUNT", str(count)), LIMITS) for count in range(1, 16)]
    asked = [run.output == "1\n" for run in runs]

    assert any(asked)
    assert asked == [bool(run.observations.trap_hits) for run in runs]


def test_while_one_is_looked_at_others_are_too() -> None:
    """That no collection runs just then tells when that is. Only on a GPU a box has threads, and none lets signals in.

    Whoever asks at that moment, in another thread or in a handler of a signal, is noticed.
    """
    source = """
import builtins, gc, inspect, signal, threading, time
asked = {}

def plain():
    pass

def look_on(what):
    end = time.monotonic() + 5
    while what not in asked and time.monotonic() < end:
        inspect.signature(plain)

def in_another_thread():
    thread = threading.Thread(target=look_on, args=("code",))
    thread.start()
    while gc.isenabled() and thread.is_alive():
        pass
    asked["code"] = getattr(plain, "__co" + "de__")
    thread.join()

def handle(*_):
    if not gc.isenabled() and "text" not in asked:
        asked["text"] = getattr(builtins, "ex" + "ec")("1")

def in_a_handler():
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    look_on("text")
    signal.setitimer(signal.ITIMER_REAL, 0)

def attend(q, k, v):
    in_another_thread()
    in_a_handler()
    print(*asked)
    return q
"""
    run = PlainBox().run(plan("attention"), source, replace(LIMITS, wall_seconds=60.0))

    assert run.output.split() == ["code", "text"], run
    assert {hit.what for hit in run.observations.trap_hits if hit.noticed} == {"__code__", "text that is run as code"}


def test_there_is_nothing_in_frames_and_functions_of_ours(sandbox: Sandbox) -> None:
    """A library that is asked to look into them finds no names and no objects there, and nobody is noticed."""
    trap = "torch._C._te.ifThenElse"
    asked = {
        "torch's frames": "[torch._jit_internal.createResolutionCallbackFromFrame(n)('traps') for n in range(12)]",
        "torch's closures": f"set(torch._jit_internal.get_closure({trap}).values())",
        "inspect's": f"inspect.getclosurevars({trap}).nonlocals",
    }
    lines = "".join(f"    print({name!r}, {expression})\n" for name, expression in asked.items())
    source = f"{_SETUP}\ndef attend(q, k, v):\n{lines}    return q\n"

    run = sandbox.run(plan("attention"), source, LIMITS)

    assert run.output.splitlines() == [
        f"torch's frames {[None] * 12}",
        "torch's closures {None}",
        "inspect's {'called': None, 'self': None}",
    ]


def test_honest_code_is_not_noticed(sandbox: Sandbox) -> None:
    """Libraries look at frames, run texts of their own and read the names of functions all the time."""
    assert _noticed(sandbox, _HONEST) == ()


def test_the_end_of_a_child_by_an_error_is_not_noticed(sandbox: Sandbox) -> None:
    """Python writes a traceback with frames of ours then, and no code of the submission asks for it."""
    source = f"{_HONEST}\ndef attend(q, k, v):\n    raise KeyboardInterrupt\n"

    run = sandbox.run(plan("attention"), source, LIMITS)

    assert (run.ending, run.observations.trap_hits) == (Ending.CRASHED, ())


def test_a_module_that_is_imported_late_is_not_noticed() -> None:
    """Without a sandbox, modules are read from files while a submission is loaded, and run by Python's `exec`."""
    source = f"import colorsys, wave\n{_HONEST}"

    run = PlainBox().run(plan("attention"), source, replace(LIMITS, wall_seconds=60.0))

    assert (run.observations.trap_hits, bool(run.observations.calls)) == ((), True), run


def test_our_own_classes_are_among_no_ones_subclasses(sandbox: Sandbox) -> None:
    """A walk from `object` down leads to none of them."""
    source = """
import torch
found, waiting = [], [object]
while waiting:
    kind = waiting.pop()
    found.append(kind)
    waiting += [one for one in type.__subclasses__(kind) if one not in (type, object)] if kind is not type else []
OURS = [kind for kind in found if str(kind.__dict__.get("__module__")).startswith("grader")]
print(len(found) > 1000, OURS)

def attend(q, k, v):
    return q
"""
    assert sandbox.run(plan("attention"), source, LIMITS).output == "True []\n"


def test_a_notice_is_told_and_costs_nothing(sandbox: Sandbox) -> None:
    """Whoever puts the name together has a clue with its line, and the points of a right answer."""
    source = """
import torch
def softmax(x, dim=-1):
    getattr(softmax, "__glo" + "bals__")
    weights = (x - x.amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True)
"""
    report = grade(read_exercise(ROOT / "exercises" / "softmax"), source, seed=3, box=sandbox)

    assert report.score == 100.0
    assert [(clue.sight, clue.what, clue.line) for clue in report.clues] == [(Sight.UNUSUAL, "__globals__", 4)]
