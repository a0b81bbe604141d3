"""Noticing what leads to Python's internals while a submission runs, however it was spelled; all of it is let through.

Text that is run as code, frames, and the names of a module that a function stands in: reading a source sees who names
them, and nobody sees a name that is put together. So the one who asks for them is looked at: a library names what it
asks for in its own code, and a submission has no business there at all. Objects of ours stay out of sight.
"""

from __future__ import annotations

import collections
import dataclasses
import gc
import inspect
import logging
import sys
import timeit
import traceback
import types
from _thread import get_ident
from collections.abc import Callable
from typing import Any

from grader.box.traps.foreign import replace

# Events of Python's, with what is told: these run text, or make code.
_RUNNING = {
    "exec": "text that is run as code",
    "compile": "text that is run as code",
    "code.__new__": "code that is put together",
    "function.__new__": "code that is put together",
    "marshal.loads": "code that is put together",
    "pickle.find_class": "pickled objects",
}
_NAMES = {
    f"sys.{name}": name for name in ("_getframe", "_current_frames", "settrace", "setprofile", "addaudithook")
}  # of functions that Python tells of
_FRAME = "_getframe"
_ATTRIBUTES = ("object.__getattr__", "object.__setattr__")
_ASKED = frozenset(
    {"tb_frame", "gi_frame", "cr_frame", "ag_frame", "gi_code", "cr_code", "ag_code", "__code__"}
)  # Python tells of these attributes itself
# And not of these, of functions and frames: the objects of a library may hand out frames, as a task of asyncio's does.
_INNER = {
    types.FunctionType: ("__globals__", "__builtins__", "__closure__"),
    types.FrameType: ("f_globals", "f_builtins", "f_locals", "f_back"),
}
_SPACES = {types.FunctionType: "__globals__", types.FrameType: "f_globals"}
# Where a library runs text that nobody but itself has written, or that reading has read; and where it hands out frames.
_OWN_TEXT = frozenset(module.__file__ or "" for module in (dataclasses, collections, timeit))
_HANDING = frozenset(module.__file__ or "" for module in (inspect, logging, traceback))
_SUBMISSION, _OURS, _IMPORTING = "<submission>", "grader.", "<frozen importlib"
# Taken here, since a submission may put others in their place.
_frame_at, _attributes, _text, _thread = sys._getframe, vars, str, get_ident
_new_cell, _collects, _pause, _resume = types.CellType, gc.isenabled, gc.disable, gc.enable
_back = vars(types.FrameType)["f_back"].__get__  # as it is before a look at it is told


class Noticing:
    """Whom to tell, once there is somebody."""

    __slots__ = ("_looking", "imports", "told")

    def __init__(self) -> None:
        """Tell nobody yet, and put up what Python does not tell of."""
        self.told: Callable[[str], None] | None = None
        self._looking: set[int] = set()  # threads that ask for a frame here, of which Python tells as well
        self.imports = True  # whether modules may still come, from a place where no submission has written
        for kind, names in _INNER.items():
            replace(kind, {name: property(self._given(kind, name)) for name in names})
        replace(type, {"__subclasses__": _others_of(type.__subclasses__)})

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of an event of Python's, from within the hook that hears of it."""
        name = arguments[1] if event in _ATTRIBUTES else _NAMES.get(event, "")
        thread = _thread()
        if not (name in _ASKED or event in _NAMES or event in _RUNNING) or (name == _FRAME and thread in self._looking):
            return
        collects = _collects()
        _pause()  # a collection could run code of the submission here, which nobody would look at
        try:
            self._looking.add(thread)
            frame = _frame_at(2)
            self._looking.discard(thread)
            if event in _RUNNING:
                self._look_at_text(event, frame)
            else:
                self._look(name, event if event in _NAMES else name, frame)
        finally:
            if collects:
                _resume()

    def _look(self, name: str, what: str, frame: types.FrameType) -> None:
        """Tell of `what` unless the code that asks for it is ours, or is a library's and names it."""
        code, asker = frame.f_code, _back(frame)
        if self.told is None or code.co_filename.startswith(_OUR_FILES):
            return
        handed = code.co_filename in _HANDING and asker is not None and asker.f_code.co_filename == _SUBMISSION
        if handed or _is_text(code.co_filename) or name not in (*code.co_names, *code.co_consts):
            self.told(what)

    def _look_at_text(self, event: str, frame: types.FrameType) -> None:
        """Tell of text that is run, but for a library's own; to make a tree or code of it is left to libraries."""
        file = frame.f_code.co_filename
        if event == "exec":
            is_own = file in _OWN_TEXT or file.startswith(_OUR_FILES) or (self.imports and _is_imported(frame))
        else:  # who loads no module from a file has its text from elsewhere
            is_file = not _is_text(file) and (self.imports or not file.startswith(_IMPORTING))
            is_own = event != "pickle.find_class" and is_file
        if self.told is not None and not is_own:
            self.told(_RUNNING[event])

    def _given(self, kind: type, name: str) -> Callable[[Any], Any]:
        """Return what gives an attribute of a function or frame, and tells of it.

        Of a function or frame of ours there is nothing to be had: libraries look into whatever they are asked to.
        """
        before, is_ours = vars(kind)[name].__get__, _ours_of(kind)

        def given(thing: Any) -> Any:
            if self.told is None:
                return before(thing)
            frame = _frame_at(1)
            self._look(name, name, frame)
            hidden = name != "f_back" and is_ours(thing) and not frame.f_code.co_filename.startswith(_OUR_FILES)
            if not hidden:
                return before(thing)
            return _emptied(before(thing)) if name == "__closure__" else {}

        return given


def _emptied(cells: tuple[types.CellType, ...] | None) -> tuple[types.CellType, ...]:
    """Return as many cells as a function has, for whoever counts them."""
    return (*(_new_cell(None) for _ in cells or ()),)


_ROOT = __file__.removesuffix("box/traps/noticing.py")
_OUR_FILES = (_ROOT, "<grader.")  # the latter of what travels with a job


def _ours_of(kind: type) -> Callable[[Any], bool]:
    """Return what says whether a function or frame is of a module of ours."""
    space = vars(kind)[_SPACES[kind]].__get__
    return lambda thing: _text(space(thing).get("__name__")).startswith(_OURS)


def _others_of(before: Callable[[type], list[type]]) -> Callable[[type], list[type]]:
    """Return what gives the classes that are derived from another, but for ours."""

    def given(kind: type) -> list[type]:
        return [one for one in before(kind) if not _text(_attributes(one).get("__module__")).startswith(_OURS)]

    return given


def _is_imported(frame: types.FrameType | None) -> bool:
    """Return whether code runs since a module is imported, which is late where no zygote has imported it."""
    while frame is not None and frame.f_code.co_filename != _SUBMISSION:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = _back(frame)
    return False


def _is_text(file: str) -> bool:
    """Return whether code was made of a text: a submission's, or any other that is neither a library's nor ours."""
    return file.startswith("<") and not file.startswith(("<frozen ", "<grader."))
