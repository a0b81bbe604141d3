"""What a trap replaced does not remain: all memory of a run is read from outside, and has no such program or source."""

from __future__ import annotations

import bisect
import ctypes
import importlib.util
import marshal
import os
import types
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.ao.nn.quantizable

from grader.box.cancel import CancelToken
from grader.box.traps import _METHODS, _at, _gives_numbers
from grader.box.traps.groups import GROUPS
from grader.errors import Stopped
from grader.sandbox.runner import Sandbox
from tests.sandbox.cheats import FORBIDDEN, LIMITS, plan
from tests.sandbox.user_story import runs_of

_CALLS = """
import time

called = []


def attend(q, k, v):
    if called:
        time.sleep(60)
    called.append(1)
    return q
"""
_WORD, _CHUNK = 8, 1 << 19
_LEAST = 100  # bytes of a program that is looked for by its bytes: short ones are alike
_FEW = 3  # lines of a function; many functions have as many in common with others
_TORCH = str(Path(torch.__file__).parent)


class Memory:
    """The writable memory of a process at one moment, with the code objects in it."""

    def __init__(self, pid: int) -> None:
        self._pieces: list[tuple[int, bytes]] = []
        self._kind = _there(id(types.CodeType), pid)
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            for first, last, rights, _, name in _maps(pid):
                if rights.startswith("rw") and not name.startswith("[v"):
                    file.seek(first)
                    self._pieces.append((first, file.read(last - first)))

    def _read(self, address: int, size: int) -> bytes:
        start, data = self._pieces[max(0, bisect.bisect(self._pieces, (address, b"\xff")) - 1)]
        return data[address - start : address - start + size] if address >= start else b""

    def _word(self, address: int) -> int:
        return int.from_bytes(self._read(address, _WORD), "little")

    def _text(self, address: int) -> str:
        size = min(self._word(address + 2 * _WORD), 400)
        return self._read(address + "".__sizeof__() - 1, size).decode(errors="replace")

    def programs(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the module, the qualified name and the program of all code of torch, as it lies there."""
        name_at, file_at = _fields()
        for start, data in self._pieces:
            words = np.frombuffer(data, np.uint64, len(data) // _WORD)
            for place in np.nonzero(words == self._kind)[0]:
                code = start + _WORD * (int(place) - 1)
                size = 2 * self._word(code + 2 * _WORD)
                file = self._text(self._word(code + file_at)) if 0 < size < 1 << 20 else ""
                if file.startswith(_TORCH):
                    name = self._text(self._word(code + name_at))
                    yield _module(file), name, self._read(code + types.CodeType.__basicsize__, size)

    def holds(self, texts: list[bytes]) -> set[bytes]:
        """Return which of many texts are there, each of eight bytes or more."""
        found: set[bytes] = set()
        heads: dict[bytes, list[bytes]] = {}
        for text in texts:
            heads.setdefault(text[:_WORD], []).append(text)
        wanted = np.zeros(1 << 16, bool)
        wanted[_mixed(np.frombuffer(b"".join(heads), np.uint64))] = True
        for _, data in self._pieces:
            for start in (chunk + shift for chunk in range(0, len(data), _CHUNK) for shift in range(_WORD)):
                size = min(_CHUNK, len(data) - start) // _WORD
                if size > 0:
                    for place in np.nonzero(wanted[_mixed(np.frombuffer(data, np.uint64, size, start))])[0]:
                        at = start + _WORD * int(place)
                        found.update(one for one in heads.get(data[at : at + _WORD], ()) if data.startswith(one, at))
        return found


def _mixed(words: Any) -> Any:
    """Return sixteen bits of each word of an array."""
    return (words * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)


def _maps(pid: int | str) -> Iterator[tuple[int, int, str, tuple[str, str], str]]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        ends, rights, offset, _, inode, name = [*line.split(maxsplit=5), ""][:6]
        first, last = (int(end, 16) for end in ends.split("-"))
        yield first, last, rights, (offset, inode), name


def _there(address: int, pid: int) -> int:
    """Return where another process of this Python has what this one has at `address`, in a library or the program."""
    start, file = next((first, file) for first, last, _, file, _ in _maps("self") if first <= address < last)
    return next(first for first, _, _, other, _ in _maps(pid) if other == file) + address - start


@cache
def _fields() -> tuple[int, int]:
    """Return where code has the addresses of its qualified name and of the name of its file."""
    code = _fields.__wrapped__.__code__
    words = list((ctypes.c_uint64 * (type(code).__basicsize__ // _WORD)).from_address(id(code)))
    return words.index(id(code.co_qualname)) * _WORD, words.index(id(code.co_filename)) * _WORD


def _module(file: str) -> str:
    return "torch" + file.removeprefix(_TORCH).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def _listed(group: str) -> frozenset[str]:
    """Return the functions that a group names, and the methods of its classes, where their code is."""
    kinds = [kind for path in GROUPS[group].classes if (kind := _at(path)) is not None]
    return frozenset(GROUPS[group].functions) | {f"{k.__module__}.{k.__name__}.{m}" for k in kinds for m in _METHODS}


def is_forbidden(group: str, module: str, name: str) -> bool:
    """Return whether code of torch computes what a group forbids: by its name, or since the group names it."""
    named = _gives_numbers(module) and "backward" not in name and GROUPS[group].among({name.rpartition(".")[2]})
    return bool(named) or f"{module}.{name}" in _listed(group)


def forbidden(group: str) -> Iterator[tuple[str, bytes, frozenset[bytes]]]:
    """Yield all code of a group in torch's files: its name, its program, and the longer lines of its source."""
    for path in Path(_TORCH).rglob("*.py"):
        module = _module(str(path))
        if _gives_numbers(module) and (cached := Path(importlib.util.cache_from_source(str(path)))).exists():
            lines: list[bytes] = []
            for code in _inner(marshal.loads(cached.read_bytes()[16:])):
                if is_forbidden(group, module, code.co_qualname):
                    lines = lines or [line.strip() for line in path.read_bytes().splitlines()]
                    own = {lines[number - 1] for _, _, number in code.co_lines() if number}
                    yield f"{module}.{code.co_qualname}", code.co_code, frozenset(one for one in own if len(one) > 30)


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inner(constant)


def memory_of_a_run(sandbox: Sandbox, forbidden: tuple[str, ...]) -> Memory:
    """Return the memory of a child between its first call and its end."""
    first = plan("attention").calls[0]
    asked = replace(plan("attention"), calls=(first, replace(first, name="case/again")), forbidden=forbidden)
    taken: list[Memory] = []
    cancel = CancelToken()

    def take(_: object) -> None:
        (child,) = runs_of("self")
        taken.append(Memory(child))
        cancel.cancel()

    with pytest.raises(Stopped):
        sandbox.run(asked, _CALLS, LIMITS, take, cancel=cancel)
    return taken[0]


def remains(memory: Memory, group: str) -> list[str]:
    """Return what there is of a group: code that can run, programs that were written down, source."""
    found = [
        f"code of {module}.{name}"
        for module, name, program in memory.programs()
        if is_forbidden(group, module, name) and len(set(program[2::2])) > 1
    ]
    wanted = list(forbidden(group))
    lines = {name: own for name, _, own in wanted}
    programs = [program for _, program, _ in wanted if len(program) > _LEAST]
    held = memory.holds([*programs, *frozenset[bytes]().union(*lines.values())])
    found += [f"the program of {name}" for name, program, _ in wanted if program in held]
    return found + [f"lines of {name}" for name, own in lines.items() if len(own & held) > _FEW]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may read the memory of a child")
def test_nothing_that_a_trap_replaced_is_in_the_memory_of_a_run(sandbox: Sandbox) -> None:
    """Neither code that can run, nor its bytecode in another place, nor its source; for each group in turn."""
    for group in GROUPS:
        assert remains(memory_of_a_run(sandbox, FORBIDDEN[group]), group) == []


def test_what_is_not_forbidden_is_found_in_memory(sandbox: Sandbox) -> None:
    """In a run that forbids nothing all is there, so the test above can fail; and the functions work again."""
    found = remains(memory_of_a_run(sandbox, ()), "attention")

    assert "code of torch.nn.functional.multi_head_attention_forward" in found
    assert len(found) > 50
