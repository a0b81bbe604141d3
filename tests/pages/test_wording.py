"""Strangers' text is made harmless, and views are packed without markup."""

import ast
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

from grader.checks.finding import cut
from grader.exercise.catalog import ROOT, Catalog
from grader.pages.answers import ASSETS
from grader.pages.wording import clean, count, number, pack


def test_characters_that_hide_or_reorder_text_are_replaced():
    """A right-to-left override, a zero-width space and an escape become the replacement mark."""
    dirty = "a\u202eb\u200bc\x1b[31md"

    assert clean(dirty) == "a\ufffdb\ufffdc\ufffd[31md"


def test_a_heap_of_marks_is_cleared():
    """Four marks on a letter stay; a tower of them would cover the lines around."""
    assert clean("a" + "\u0301" * 400 + "b") == "a" + "\u0301" * 4 + "\ufffdb"


def test_letters_that_nobody_sees_are_shown():
    """A filler, a soft hyphen and a tag get a mark; the joiner inside of an emoji stays."""
    dirty = "a\u3164b\xadc\U000e0041d"

    assert clean(dirty) == "a\ufffdb\ufffdc\ufffdd"
    assert clean("\U0001f469\u200d\U0001f4bb") == "\U0001f469\u200d\U0001f4bb"


def test_tabs_and_newlines_stay():
    """What indents and separates a student's output is kept."""
    assert clean("a\tb\r\nc\n") == "a\tb\nc\n"


def test_text_in_other_alphabets_stays():
    """Accents, Chinese and emoji are text like any other."""
    assert clean("Zoë 注意 🙂") == "Zoë 注意 🙂"


def test_long_text_ends_in_an_ellipsis():
    """Text beyond the limit is cut."""
    assert clean("x" * 11, 10) == "x" * 10 + "…"


CATALOG = Catalog.load()
TOLD = sorted(
    {one.message for exercise in CATALOG.values() for one in exercise.mistakes}
    | {check.teaches for exercise in CATALOG.values() for check in exercise.spec.checks if check.teaches}
    | {exercise.spec.summary for exercise in CATALOG.values()}
    | {hint for exercise in CATALOG.values() for hint in exercise.hints}
)


def _is_cut_well(text: str, limit: int) -> bool:
    """Return whether a text is whole, or ends after one of its words, outside of code, within the limit."""
    found = cut(text, limit)
    kept = found.removesuffix("…").rstrip()
    if found == text:
        return len(text) <= limit
    return text.startswith(kept) and text[len(kept)] in " \n`" and kept.count("`") % 2 == 0 and len(found) <= limit + 2


def test_what_is_told_is_never_cut_within_a_word_or_code():
    """What mistakes, properties and hints say, cut to many lengths; at a sentence where one ends in the second half."""
    asked = [(text, limit) for text in TOLD for limit in range(60, len(text) + 7, 7)]
    wrong = [(text, limit) for text, limit in asked if not _is_cut_well(text, limit)]

    assert len(asked) > 10_000
    assert wrong == []
    assert cut("One. Two is longer than that.", 10) == "One. Two …"
    assert cut("One is one. Two is longer.", 18) == "One is one. …"


def test_nothing_that_is_told_is_too_long_for_a_report():
    """The headline and the sentences of a mistake, and what a property teaches, stand in the report whole."""
    titles = {one.title for exercise in CATALOG.values() for one in exercise.mistakes}

    assert max(map(len, titles)) <= 200
    assert max(map(len, TOLD)) <= 2000
    assert max(len(check.teaches) for one in CATALOG.values() for check in one.spec.checks) <= 600


def test_packed_views_hold_no_markup():
    """Less-than, greater-than and ampersand are escaped, and come back as they were."""
    line = pack({"name": "</script><b>&"})

    assert not set("<>&") & set(line)
    assert json.loads(line) == {"name": "</script><b>&"}


def test_numbers_that_json_lacks_become_null():
    """An infinite or undefined cell of a heat map reaches the browser as null."""
    assert json.loads(pack({"cells": ((1.0, math.nan), (math.inf, -1.5))})) == {"cells": [[1.0, None], [None, -1.5]]}


def test_points_are_shown_without_needless_decimals():
    """Whole points have no decimals, others at most two."""
    assert [number(value) for value in (100.0, 12.5, 66.666, 0.0)] == ["100", "12.5", "66.67", "0"]


def test_one_thing_is_singular():
    """A noun takes an s for any number but one."""
    assert [count(amount, "check") for amount in (0, 1, 2)] == ["0 checks", "1 check", "2 checks"]


WORDS = re.compile(r"\bcontract|\bwhere it starts", re.IGNORECASE)  # they are "exercise" and "where it begins"
SHOWN = [
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "grader/pages/templates").iterdir(),
    *(ROOT / "exercises").rglob("*.md"),
]
SCRIPTS = [path for path in ASSETS.glob("*.js") if path.name not in ("codemirror.js", "highlight.js")]


def told(path: Path) -> Iterator[str]:
    """Yield the texts of a Python file that are no docstrings, and so may be shown to somebody."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_one_thing_has_one_word_wherever_somebody_reads_it():
    """In pages, messages, statements and docs; what a mistake is told with is the docstring of its function."""
    wrong = [path.name for path in (*SHOWN, *SCRIPTS) if WORDS.search(path.read_text(encoding="utf-8"))]
    for path in (ROOT / "grader").rglob("*.py"):
        wrong += [f"{path.name}: {text}" for text in told(path) if WORDS.search(text)]
    for exercise in Catalog.load().values():
        wrong += [text for one in exercise.mistakes for text in (one.title, one.message) if WORDS.search(text)]

    assert wrong == []
