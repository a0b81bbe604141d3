"""How large the house is, and how much of it runs for one right answer: `python -m benchmarks house`.

Lines of code are those that hold a token of Python beside docstrings and comments. A module with one importer is one
that only one other module of `grader/` imports. The path is the files of `grader/` in which a function is called in the
pages' process and in the grading process between the click on *Run checks* and the stored verdict on a right answer to
`softmax`; the sandbox's own processes are left out.
"""

from __future__ import annotations

import ast
import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.storm_browser import Address, Browser, find_events
from benchmarks.storm_site import enrol
from grader import search_path
from grader.exercise.catalog import ROOT
from grader.settings import PREFIX, Settings
from tests.machine import free_port

_PACKAGE = ROOT / "grader"
_EXERCISE = "softmax"
_POLL_SECONDS = 0.02
_START_SECONDS = 300
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Size:
    """How large some files are together, in modules and lines."""

    modules: int
    lines: int
    code: int


def house(
    path: Annotated[bool, typer.Option(help="serve the pages, and count the files that run for one answer")] = True,
) -> None:
    """Print lines, modules, importers, and the length of the path of one answer."""
    parts = sorted(one for one in _PACKAGE.iterdir() if one.suffix == ".py" or any(one.rglob("*.py")))
    typer.echo(f"{'':<28}{'modules':>9}{'lines':>9}{'code':>9}")
    for part in parts:
        _print(str(part.relative_to(ROOT)), _size(_files(part)))
    _print("grader", _size(_files(_PACKAGE)))
    _print("exercises, reference", _size([*_files(ROOT / "exercises"), *_files(ROOT / "reference")]))
    _print("tests without tests/hostile", _size([one for one in _files(ROOT / "tests") if "hostile" not in one.parts]))
    _print("benchmarks", _size(_files(ROOT / "benchmarks")))
    single = dict(_single_importers())
    beside = sum(one.rpartition(".")[0] == other.rpartition(".")[0] for one, other in single.items())
    typer.echo(f"modules with one importer: {len(single)}, {beside} of them in its package")
    if path:
        ran = _path()
        for kind, files in ran.items():
            typer.echo(f"files that run in the {kind} process: {len(files)}")
        typer.echo(f"different ones: {len(set().union(*ran.values()))}")


def _print(name: str, size: Size) -> None:
    typer.echo(f"{name:<28}{size.modules:>9,}{size.lines:>9,}{size.code:>9,}")


def _files(place: Path) -> list[Path]:
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [file for file in files if not {"node_modules", "examples"} & set(file.parts)]


def _size(files: list[Path]) -> Size:
    texts = [file.read_text(encoding="utf-8") for file in files]
    return Size(len(files), sum(len(text.splitlines()) for text in texts), sum(_code_lines(text) for text in texts))


def _code_lines(text: str) -> int:
    """Return how many lines hold code: no blanks, comments or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DESCRIBED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def _single_importers() -> Iterator[tuple[str, str]]:
    """Yield the modules that one other module imports, with that one."""
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in _files(_PACKAGE)
    }
    importers: dict[str, set[str]] = defaultdict(set)
    for name, file in modules.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                wanted = [f"{node.module}.{one.name}" for one in node.names]
                for one in wanted:
                    importers[one if one in modules else node.module].add(name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name].add(name)
    for name in modules:
        if len(importers[name]) == 1:
            yield name, next(iter(importers[name]))


def _path() -> dict[str, set[str]]:
    """Return the files that run for one answer, by the kind of process."""
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder) / "data", free_port()
        data.mkdir(mode=0o700)
        (token,) = enrol(Settings(data=data), 1)
        ours = {f"{PREFIX}DATA": str(data), f"{PREFIX}PORT": str(port), f"{PREFIX}SLOTS": "1"}
        command = f"from benchmarks.house import trace_pages; trace_pages({folder!r})"
        with (data / "log").open("wb") as log:
            server = subprocess.Popen([sys.executable, "-c", command], cwd=ROOT, env={**os.environ, **ours}, stdout=log)
        try:
            asyncio.run(_click(port, token, Path(folder)))
        finally:
            server.terminate()
            server.wait(60)
        return {kind: set(json.loads((Path(folder) / f"{kind}.json").read_text())) for kind in ("pages", "grading")}


async def _click(port: int, token: str, folder: Path) -> None:
    """Hand in a right answer, twice: the first time whatever is imported or made once is imported and made."""
    events = await _events(port)
    browser = Browser(Address(port, events), token)
    source = (ROOT / "reference" / f"{_EXERCISE}.py").read_text(encoding="utf-8")
    for is_counted in (False, True):
        if is_counted:
            (folder / "on").touch()
            await asyncio.sleep(10 * _POLL_SECONDS)
        (submission, *_) = await browser.event("submit", _EXERCISE, source, query=f"ex={_EXERCISE}")
        async for _ in browser.follow(str(submission)):
            pass
    (folder / "off").touch()
    await asyncio.sleep(1)


async def _events(port: int) -> dict[str, int]:
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            return await find_events(port)
        except OSError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.5)


def trace_pages(folder: str) -> None:
    """Be the pages' process, noting each file that runs; grading processes that it starts do the same."""
    isolated = search_path.isolated

    def traced(module: str, function: str, arguments: str = "") -> list[str]:
        if not module.endswith("grading_entry"):
            return isolated(module, function, arguments)
        begin = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from benchmarks.house import trace"
        call = f"trace({folder!r}, 'grading'); from {module} import {function}; {function}({arguments})"
        return [sys.executable, "-c", f"{begin}; {call}"]

    search_path.isolated = traced
    trace(folder, "pages")
    sys.argv = ["attention-gym", "serve"]
    from grader.__main__ import run  # here: it is what is traced

    run()


def trace(folder: str, kind: str) -> None:
    """Note from now on which files of `grader/` run, from the time that `folder` says `on` until it says `off`."""
    place, ran = Path(folder), set[str]()
    own = str(_PACKAGE) + os.sep

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)  # type: ignore[attr-defined]

    def follow() -> None:
        while not (place / "on").exists():
            time.sleep(_POLL_SECONDS)
        ran.clear()
        while not (place / "off").exists():
            time.sleep(_POLL_SECONDS)
        files = sorted(file for file in set(ran) if file.startswith(own))
        (place / f"{kind}.json").write_text(json.dumps(files), encoding="utf-8")

    threading.Thread(target=follow, daemon=True).start()
    threading.setprofile(note)
    sys.setprofile(note)
