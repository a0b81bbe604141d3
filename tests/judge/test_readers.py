"""Whatever reads a student's text outside of the box takes time that grows with its length, and not with its square."""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby, pairwise, product
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined] # how Python writes a pattern down is not public
from re import _parser as parser  # type: ignore[attr-defined]

import pytest
import torch

from grader.box.observations import Blame, Observations, Raised, Stage
from grader.checks.explain import explain
from grader.cli import text as cli_text
from grader.errors import NotAllowed, Rejected
from grader.exercise.catalog import ROOT
from grader.exports.cells import quoted
from grader.judge.explain import location, symptoms
from grader.judge.inspection import names as names_in_sources
from grader.judge.inspection import read
from grader.judge.inspection.unusual import runs_in_common
from grader.judge.source import (
    in_cells,
    in_double_precision,
    names_single_precision,
    read_source,
    what_it_is,
    without_magic,
)
from grader.judge.text import clean
from grader.judge.tryout import read_tensor
from grader.pages import wording
from grader.rules.roster import BadFile, read_roster
from grader.service import accounts, names
from grader.service.names import skeleton, tidy
from grader.similarity import ClassWork, compare
from tests.judge.slow_texts import TEXTS

SIZES = (16 << 10, 64 << 10, 256 << 10)
FLOOR = 0.02  # seconds; what takes less is not told from noise
STEP_SIZES = (2 << 10, 4 << 10, 8 << 10)  # bytes; of most texts less than readers take
GROWTH = 9  # from one size to the next: four is linear, sixteen the square
_RAISED = Raised(Stage.LOAD, Blame.ERROR, "E", "", 9)


def _source(text: str) -> None:
    with contextlib.suppress(Rejected):
        read_source(text, limit_bytes=4 << 20)


def _name(text: str) -> None:
    with contextlib.suppress(NotAllowed):
        skeleton(tidy(text))


def _typed(text: str) -> None:
    with contextlib.suppress(Rejected):
        read_tensor("x", text, torch.zeros(1))


def _roster(text: str) -> None:
    with contextlib.suppress(BadFile):
        read_roster(f"email,name\nada@school.edu,{text}", ())


def _compared(text: str) -> None:
    compare([ClassWork(name, name, text) for name in ("a", "b")], ("pass",))


READERS: Mapping[str, Callable[[str], object]] = {
    "source": _source,
    "clues": lambda text: read(f"{text}\nimport ctypes", ("attention", "softmax"), ("attend",)),
    "clues without a word that tells": lambda text: read(text, ("softmax",), ("attend",)),
    "precision": names_single_precision,
    "precision in its place": in_double_precision,
    "asks for a number's limits": lambda text: in_double_precision("finfo(" + text.replace("\n", "finfo(")),
    "notebook": lambda text: _source(json.dumps({"cells": [{"cell_type": "code", "source": text}] * 3})),
    "lines of definitions": lambda text: symptoms.assignments(f"def f(x):\n    return x\n{text}", "x"),
    "commands for IPython": lambda text: without_magic(f"{text}\n%time x\n!{text}"),
    "lines of a notebook": lambda text: in_cells(Observations(loading=_RAISED), f"# %% cell 1 of the notebook\n{text}"),
    "no Python": lambda text: what_it_is(text, Raised(Stage.LOAD, Blame.ERROR, "SyntaxError", "", 1)),
    "typed numbers": _typed,
    "cleaned for a report": clean,
    "cleaned for a page": lambda text: wording.clean(text, 1 << 20),
    "line that goes wrong": location.attributes,
    "exception": lambda text: explain(Raised(Stage.CALL, Blame.ERROR, text, text)),
    "message in a terminal": lambda text: cli_text._wrap(clean(text)),
    "report on a page": lambda text: wording.pack({"text": wording.clean(text)}),
    "cell of the export": lambda text: quoted(text[: names.LONGEST_KEY]),
    "name": _name,
    "name to sign in": names.key_of,
    "password": accounts._plain,
    "roster": _roster,
    "similarity": _compared,
}
# Every module, or package, that handles text by more than plain methods of `str`, and whose text it is.
HANDLERS = {
    "authoring": "an author's",
    "grading_entry": "settings",
    "checks/explain": "READERS",
    "box": "read in the box; what comes out of it is bounded by box/wire, see tests/box/test_wire.py",
    "cli/class_": "answers of our own",
    "cli/grade": "reports",
    "cli/text": "READERS",
    "cli/plots": "titles of ours",
    "local": "the name of one's own file",
    "log": "entries that are cut at 4000 characters",
    "cli/operations": "figures of ours",
    "exercise/chart": "an author's",
    "exercise/spec": "an author's",
    "exercise/microscope": "an author's",
    "exercise/versions": "files of ours",
    "exports/attempts": "reports",
    "exports/cells": "READERS",
    "jobs/cluster/pages": "code of bounded length and what came of it; messages of our own processes",
    "jobs/messages": "messages of our own processes",
    "exercise/steps": "our own references",
    "judge/explain/location": "READERS",
    "judge/source": "READERS",
    "judge/inspection": "READERS; what it looks at is a tree that was cut",
    "judge/explain/symptoms": "READERS; what it looks at is a tree that was cut",
    "judge/text": "READERS",
    "judge/tryout": "READERS; and what came of a run, of bounded length",
    "pages/answers": "our own pages",
    "pages/connections": "heads of bounded length, see tests/pages/test_guard.py",
    "pages/exercise": "our own",
    "pages/gradebook": "READERS",
    "pages/guard": "headers of bounded length",
    "pages/plain": "titles of bounded length",
    "pages/render": "reports of bounded length",
    "pages/requests": "of bounded length and depth, see test_guard.py and every_field_of_a_request.py in tests",
    "pages/routes": "paths and fields of bounded length",
    "pages/statement": "an author's, as Markdown and MathML",
    "pages/school/forms": "fields of bounded length",
    "pages/wording": "READERS",
    "rules/roster": "READERS",
    "sandbox": "what our own processes tell each other",
    "service/accounts": "READERS",
    "service/classes": "events of a file that an operator plays, and forms of bounded length",
    "service/names": "READERS",
    "service/service": "ids of 40 characters at most",
    "sheet_process": "a workbook, in a process with little memory and few seconds",
    "store/audit": "what our own code writes",
    "store/changes": "what our own code writes",
    "store/coursework": "what our own code writes",
    "store/gradings": "what our own code writes",
    "store/dump": "rows of our own database, which an operator has",
    "store/migrate": "revisions of our own tables",
    "store/processes": "figures of our own processes",
}
# Their patterns are for names of torch's, asked once before the fork.
_OF_TORCH = {"box/traps/internals"}
_TOOLS = {"ast", "csv", "difflib", "json", "linecache", "re", "textwrap", "tokenize", "unicodedata"}


def _seconds(reader: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    reader(text)
    return time.process_time() - start


def _grows_too_fast(reader: Callable[[str], object], text: Callable[[int], str]) -> str:
    """Return the times if one is far more than four times the one before, three times in a row; else nothing."""
    told = ""
    for _ in range(3):
        seconds = [_seconds(reader, text(SIZES[0]))]
        for size in SIZES[1:]:
            seconds.append(_seconds(reader, text(size)))
            if seconds[-1] > GROWTH * max(seconds[-2], FLOOR):
                told = " ".join(f"{one:.3f}" for one in seconds)
                break
        else:
            return ""
    return told


@pytest.fixture(scope="module", autouse=True)
def _without_collections() -> Iterator[None]:
    """Keep the collector of garbage from running where it likes; and have torch's own source read before."""
    runs_in_common("x")
    skeleton("\u0430")
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_needs_time_in_proportion(name: str) -> None:
    """No text of 64 or 256 KiB takes it more than about four times as long as one of a quarter of the length."""
    slow = {text: told for text, make in TEXTS.items() if (told := _grows_too_fast(READERS[name], make))}

    assert slow == {}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_steps_in_proportion(name: str) -> None:
    """Twice the text takes at most about twice the calls, below the lengths at which a reader gives up.

    Unlike seconds, calls are the same on each machine; what the interpreter does inside of one call they do not show.
    The square of the length takes four times as many, each time; a length from which on more is looked at does so once.
    """
    slow = {}
    for title, make in TEXTS.items():
        calls = [_calls(READERS[name], make(size)) for size in STEP_SIZES]
        if all(less > 500 and more > 3.2 * less for less, more in pairwise(calls)):
            slow[title] = calls

    assert slow == {}


def _calls(reader: Callable[[str], object], text: str) -> int:
    """Return how many functions are called, Python's own too, while a text is read."""
    count = 0

    def one_more(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(one_more)
    try:
        reader(text)
    finally:
        sys.setprofile(before)
    return count


def test_every_row_of_accents_is_counted() -> None:
    """Of all characters that have accents in them or are some: putting these in order takes the square of a row."""
    kinds = [chr(code) for code in range(sys.maxunicode + 1)]
    made_of = [kind for kind in kinds if unicodedata.combining(kind) or unicodedata.decomposition(kind)]
    wrong = []
    for kind in made_of:
        accents = [bool(unicodedata.combining(sign)) for sign in unicodedata.normalize("NFKD", f"a{kind * 3}a")]
        longest = max(sum(1 for _ in row) if is_accent else 0 for is_accent, row in groupby(accents))
        if names_in_sources._most_accents(f"a{kind * 3}a") != longest:
            wrong.append(kind)

    assert len(made_of) > 5000
    assert wrong == []


def test_every_handler_of_text_is_known() -> None:
    """Whoever imports one of the tools that can be slow says here whose text it gets, or is a reader."""
    found = set()
    for path in sorted((ROOT / "grader").rglob("*.py")):
        name = str(path.relative_to(ROOT / "grader").with_suffix(""))
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        if imported & _TOOLS:
            found.add(next((known for known in HANDLERS if f"{name}/".startswith(f"{known}/")), name))

    assert found == set(HANDLERS)


def _patterns(path: Path) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of a module, those too that are put together."""
    constants: dict[str, object] = {"re": re}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)} <= {
            *constants
        }:
            try:
                exec(compile(ast.Module([node], []), str(path), "exec"), constants)
            except NameError:  # a name of Python's own is none of ours
                continue
    for value in constants.values():
        if isinstance(value, re.Pattern):
            yield value if isinstance(value.pattern, str) else re.compile(value.pattern.decode(), value.flags & ~re.A)


def _samples(items: object) -> Iterator[str]:
    """Yield a character for each thing that a pattern asks for."""
    for item in items if isinstance(items, list | tuple | parser.SubPattern) else ():
        if isinstance(item, tuple) and len(item) == 2 and item[0] in (code.LITERAL, code.NOT_LITERAL):
            yield chr(item[1])
        elif isinstance(item, tuple) and len(item) == 2 and item[0] is code.RANGE:
            yield chr(item[1][0])
        else:
            yield from _samples(item)


def test_patterns_need_time_in_proportion() -> None:
    """On rows of whatever they ask for, one or two of it in turn, behind which comes what they do not ask for."""
    slow = []
    for path in sorted((ROOT / "grader").rglob("*.py")):
        if str(path.relative_to(ROOT / "grader").with_suffix("")) in _OF_TORCH:
            continue
        for pattern in _patterns(path):
            letters = [*sorted({*_samples(parser.parse(pattern.pattern, pattern.flags))} - {"a"})[:5], "a"]
            for first, second in product(letters, repeat=2):

                def text(size: int, row: str = first + second) -> str:
                    return row * (size // 16) + "\0"

                if told := _grows_too_fast(lambda text, p=pattern: sum(1 for _ in p.finditer(text)), text):
                    slow.append((path.name, pattern.pattern, first + second, told))

    assert slow == []
