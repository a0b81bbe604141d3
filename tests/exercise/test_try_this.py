"""Experiments in statements: what their code prints is what their tables say, so that none of them goes stale."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from grader.exercise.catalog import Catalog

SECTION = re.compile(r"^## Try this\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
CATALOG = Catalog.load()
EXPERIMENTS = [id for id, exercise in CATALOG.items() if SECTION.search(exercise.statement)]


def rows(section: str) -> list[list[str]]:
    """Return the numbers of the table's rows, as they are written."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [NUMBER.findall(line) for line in lines[2:]]


def printed(section: str) -> list[list[str]]:
    """Return the numbers of each line that the code prints."""
    text = io.StringIO()
    found = CODE.search(section)
    assert found is not None
    with contextlib.redirect_stdout(text):
        exec(compile(found[1], "try this", "exec"), {})
    return [NUMBER.findall(line) for line in text.getvalue().splitlines()]


def section_of(id: str) -> str:
    """Return the experiment of a statement."""
    found = SECTION.search(CATALOG[id].statement)
    assert found is not None
    return found[1]


def test_the_worked_tables_are_there() -> None:
    """One each on dropout, products, a query by hand, divergence, alignment, BLEU, positions and parameters."""
    assert set(EXPERIMENTS) >= {
        "attention_dropout", "simple_attention", "self_attention_parameters", "gradient_descent", "attention_seq2seq",
        "compare_variants", "sinusoidal_encoding", "multi_head_attention",
    }  # fmt: skip


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_the_code_prints_the_table(id: str) -> None:
    """Number by number and row by row, to the last digit."""
    section = section_of(id)

    assert printed(section) == rows(section)
    assert len(rows(section)) > 3
