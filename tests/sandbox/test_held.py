"""What a submission puts in the place of names of libraries and of Python does not better what is seen of it.

Every name that our code looks up while it runs is replaced, when the file is loaded, by something that acts only where
it is called by code of ours, directly or through a library, or only while one piece of evidence is taken: it raises, or
returns what hides the evidence.
"""

from __future__ import annotations

import ast
import builtins
import dis
import gc
import importlib
import inspect
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pkgutil import iter_modules
from typing import Any

import pytest

from grader import box
from grader.box import loading
from grader.box.drivers import LABS
from grader.box.observe import observe
from grader.box.plan import Plan
from grader.box.run import Ending, Run
from grader.box.wire.answer import Packer
from grader.exercise import ROOT
from grader.sandbox.runner import Sandbox
from tests.sandbox.cheats import LIMITS, plan

# A trapped call that is caught; then a large table, and an input that is written to; and both times the right answer.
_CULPRIT = """
import sys
import types

import numpy
import torch
import torch.nn.functional as F

_frame, _calls, _put = sys._getframe, [], []
_say = sys.stdout.write  # as it is before anything is replaced


def acting(original):
    def replaced(*given, **named):
        frame = _frame(1)
        if {directly} and not frame.f_globals.get("__name__", "").startswith("grader."):
            frame = None
        while frame is not None:
            home = frame.f_globals.get("__name__", "")
            if home == "submission":
                break
            if home.startswith("grader.") and frame.f_code.co_name in {within!r}:
                {acts}
            frame = frame.f_back
        return original(*given, **named)
    return replaced


def replace_all(places):
    for home, kind, name in places:
        holder = sys.modules[home]
        for part in filter(None, kind.split(".")):
            holder = holder.__dict__[part]
        _put.append((holder, name, acting(getattr(holder, name))))
    put = setattr
    for holder, name, value in _put:
        try:
            put(holder, name, value)
        except TypeError:  # a class of C; `tell_replaced` says so
            pass


def tell_replaced():
    left = [name for holder, name, value in _put if holder.__dict__.get(name) is not value]
    _say(f"not replaced: {left}\\n" if left else "all replaced\\n")


def attend(q, k, v):
    tell_replaced()
    answer = torch.softmax(q @ k.mT / 2, dim=-1) @ v
    if not _calls:
        try:
            F.scaled_dot_product_attention(q, k, v)
        except Exception:
            pass
    else:
        q.add_(torch.zeros(100, 100).sum() + 1)
    _calls.append(1)
    return answer


replace_all({places!r})
tell_replaced()
"""
_EVIDENCE = ("trapped", "__torch_dispatch__", "_differs")  # functions of ours; within each, one piece is taken
_ALWAYS = (*_EVIDENCE, "load", "observe", "_observe_call", "pack", "send", "_construct", "main")
_ACTS = ("raise ValueError", "return None", "return True", "return len(given[-1])")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A name that can be given another value: the module, the class in it or nothing, and the name."""

    home: str
    kind: str
    name: str

    def value(self) -> Any:
        holder: Any = sys.modules[self.home]
        for part in filter(None, self.kind.split(".")):
            holder = vars(holder)[part]
        return getattr(holder, self.name)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def looked_up() -> set[Place]:
    """Return every name of a library or of Python that a function of the box looks up, by its bytecode."""
    modules = [f"grader.box.{one.name}" for one in iter_modules(box.__path__)]
    modules += [f"{LABS}.{path.parent.name}.lab" for path in ROOT.glob("exercises/*/lab.py")]
    for module in modules:
        importlib.import_module(module)
    functions = [one for one in gc.get_objects() if type(one) is types.FunctionType]
    ours = [one for one in functions if str(one.__globals__.get("__name__")).startswith(("grader.box.", LABS))]
    return {place for one in ours for code in _codes(one.__code__) for place in _chains(code, one.__globals__)}


def _chains(code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
    holder: Any = None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            holder = space.get(step.argval)
            if step.argval not in space and hasattr(builtins, step.argval):
                yield Place("builtins", "", step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(holder, types.ModuleType):
            if not holder.__name__.startswith(("grader", "_pytest")) and hasattr(holder, step.argval):
                yield Place(holder.__name__, "", step.argval)
            holder = getattr(holder, step.argval, None)
        else:
            holder = None


def called_beneath(asked: Plan) -> set[Place]:
    """Return the functions of libraries, written in Python, that run while we load, observe and write down."""
    heard: set[types.CodeType] = set()

    def listen(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and _is_ours(frame.f_back):
            heard.add(frame.f_code)

    packer = Packer(asked)
    source = _culprit([], "pass", ())
    sys.setprofile(listen)
    try:
        for event in observe(asked, lambda: loading.load(source, asked.entries, packer.pack), whole=True):
            packer.pack(event)
    finally:
        sys.setprofile(None)
    functions = [one for one in gc.get_objects() if type(one) is types.FunctionType and one.__code__ in heard]
    return {place for one in functions if (place := _home(one)) is not None}


def _is_ours(frame: types.FrameType | None) -> bool:
    while frame is not None:
        home = str(frame.f_globals.get("__name__", ""))
        if home == "submission":
            return False
        if home.startswith(("grader.box.", LABS)):
            return True
        frame = frame.f_back
    return False


def _home(function: types.FunctionType) -> Place | None:
    """Return the name under which a function of a library is looked up, if it has one."""
    kind, _, name = function.__qualname__.rpartition(".")
    place = Place(function.__module__ or "", kind, name)
    if place.home.startswith(("grader", "submission")) or function.__code__.co_qualname != function.__qualname__:
        return None
    try:
        return place if callable(place.value()) else None
    except (KeyError, AttributeError):
        return None


def _culprit(places: list[Place], acts: str, within: tuple[str, ...], *, directly: bool = False) -> str:
    told = [(place.home, place.kind, place.name) for place in places]
    return (
        _CULPRIT.replace("{places!r}", repr(told))
        .replace("{acts}", acts)
        .replace("{within!r}", repr(within))
        .replace("{directly}", str(directly))
    )


def _plan() -> Plan:
    asked = plan("attention")
    call = replace(asked.calls[0], training=False)
    return replace(asked, calls=(call, replace(call, name="case/again", max_elements=1000)))


def seen(run: Run) -> list[bool]:
    """Return of the trapped call, the table and the written input whether each was seen, or its call earns nothing."""
    if run.ending is not Ending.FINISHED or run.observations.loading is not None:
        return [True] * 3
    first, again = (run.observations.calls.get(f"case/{name}") for name in ("plain", "again"))
    if first is None or again is None:
        return [True] * 3
    lost = again.raised is not None
    large = again.largest is None or again.largest >= 10_000  # None: the gauge was taken away, which is told
    return [first.raised is not None, lost or large, lost or bool(again.modified)]


def finished(run: Run) -> bool:
    """Return whether a run got to its end with both answers: the replacements changed nothing of it."""
    return run.ending is Ending.FINISHED and len(run.observations.calls) == 2 and run.observations.loading is None


def run(sandbox: Sandbox, places: list[Place], acts: str, within: tuple[str, ...] = _ALWAYS) -> Run:
    """Hand in the culprit with these places replaced, all of them, from its loading to its last call."""
    source = _culprit(places, acts, within, directly=within == _ALWAYS and len(places) > 1)
    done = sandbox.run(_plan(), source, LIMITS)
    assert "all replaced" in done.output, (places, done.output)  # a run may end in an error after that
    assert "not replaced" not in done.output, (places, done.output)
    return done


def hiding(sandbox: Sandbox, places: list[Place], acts: str, within: tuple[str, ...]) -> list[Place]:
    """Return the places that hide something when they are replaced, or break the run where they should do nothing."""
    done = run(sandbox, places, acts, within)
    if all(seen(done)) and finished(done):
        return []
    if len(places) == 1:
        return places
    half = len(places) // 2
    return [*hiding(sandbox, places[:half], acts, within), *hiding(sandbox, places[half:], acts, within)]


@pytest.fixture(scope="module")
def direct() -> list[Place]:
    """Give every name that a function of the box looks up."""
    return sorted(looked_up())


def test_the_culprit_is_seen(sandbox: Sandbox) -> None:
    """Its trapped call, its table and the input that it writes to are seen where it replaces nothing."""
    done = run(sandbox, [], "pass")

    assert finished(done)
    assert seen(done) == [True, True, True]
    assert [call.raised is None for call in done.observations.calls.values()] == [False, True]


def test_what_our_code_looks_up_in_a_library_stands_in_it_as_a_name() -> None:
    """A copy of a library holds the names that our code has after a dot; others come from the library itself."""
    looked_up()  # imports all of them
    before = ("grader.box.held", "grader.box.traps")  # these look into all of a library, before there is a copy of it
    names = [name for name in sys.modules if name.startswith(("grader.box.", LABS)) and not name.startswith(before)]
    ours = [sys.modules[name] for name in names if getattr(sys.modules[name], "__file__", None)]
    unseen = [f"{one.__name__}, line {node.lineno}" for one in ours for node in _by_other_means(one)]

    direct = {f"grader.box.{one.name}" for one in iter_modules(box.__path__)} - set(before)
    assert direct <= {one.__name__ for one in ours}
    assert unseen == []


def _by_other_means(module: types.ModuleType) -> Iterator[ast.Call]:
    """Yield the calls in functions that look into a library without a dot, `getattr(torch, name)`."""
    for function in ast.walk(ast.parse(inspect.getsource(module))):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            match node:
                case ast.Call(ast.Name("getattr" | "hasattr" | "vars" | "dir"), [ast.Name(name), *_]):
                    if isinstance(getattr(module, name, None), types.ModuleType):
                        yield node


@pytest.mark.parametrize("acts", _ACTS)
def test_no_function_that_our_code_looks_up_can_be_replaced(direct: list[Place], sandbox: Sandbox, acts: str) -> None:
    """Replaced all at once they are not even called by our code: the run is as it was."""
    functions = [place for place in direct if callable(place.value()) and not isinstance(place.value(), type)]

    assert len(functions) > 60
    for within in (*((one,) for one in _EVIDENCE), _ALWAYS):
        assert hiding(sandbox, functions, acts, within) == [], within


def test_nothing_else_that_our_code_looks_up_can_be_replaced(direct: list[Place], sandbox: Sandbox) -> None:
    """All libraries miss a class or a value as well, so each has a run of its own, which may come to nothing."""
    others = [place for place in direct if not callable(place.value()) or isinstance(place.value(), type)]

    assert len(others) > 80
    assert [place for place in others if not all(seen(run(sandbox, [place], _ACTS[1])))] == []


@pytest.mark.parametrize("within", [*((one,) for one in _EVIDENCE), _ALWAYS])
def test_no_function_beneath_our_code_hides_anything(sandbox: Sandbox, within: tuple[str, ...]) -> None:
    """Those of libraries that are called by what we call: a run may come to nothing, but hides nothing."""
    beneath = sorted(called_beneath(_plan()))

    assert len(beneath) > 20
    assert [place for place in beneath if not all(seen(run(sandbox, [place], _ACTS[1], within)))] == []
