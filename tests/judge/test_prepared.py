"""What is prepared for a seed: it survives as numbers, and a submission gets the same report as without it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from grader.box.inline import InlineBox
from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog
from grader.judge.grade import grade, prepare
from grader.judge.prepared import Outline
from grader.judge.report import Report, Status

SEED, OTHER = 20_260, 123_456_789_012
NAMES = tuple(Catalog.load())
DIGEST = """
import sys
from grader.exercise.catalog import Catalog
from grader.judge.grade import prepare
from grader.judge.prepared import Outline
print(Outline(prepare(Catalog.load()[sys.argv[1]], 7)).digest)
"""


@pytest.mark.parametrize("name", NAMES)
def test_the_outline_of_one_seed_holds_the_numbers_of_another(catalog: Catalog, name: str) -> None:
    """For every exercise: nothing but numbers depends on the seed, and no number is lost."""
    outline = Outline(prepare(catalog[name], SEED))
    numbers = outline.numbers(prepare(catalog[name], OTHER))
    again = outline.filled(OTHER, bytearray(numbers))

    assert again.seed == OTHER
    assert outline.numbers(again) == numbers


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("causal_mask", "wrong_diagonal_zero.py"),
        ("self_attention_masked", "right_added_mask.py"),
        ("multi_head_attention_causal", "wrong_no_scaling.py"),
    ],
)
def test_a_report_is_the_same_with_and_without(catalog: Catalog, name: str, file: str) -> None:
    """Every verdict, digit, picture and cause, for a seed that was drawn, and one that was put together of numbers."""
    exercise = catalog[name]
    source = (exercise.folder / "examples" / file).read_text(encoding="utf-8")
    outline = Outline(prepare(exercise, SEED))
    ready = outline.filled(OTHER, outline.numbers(prepare(exercise, OTHER, lambda: True)))

    drawn = grade(exercise, source, seed=OTHER, box=InlineBox())
    put_together = grade(exercise, source, seed=SEED, box=InlineBox(), take=lambda: ready)

    assert _timeless(put_together) == _timeless(drawn)


def test_a_source_that_cannot_be_read_takes_nothing(catalog: Catalog) -> None:
    """What was prepared waits for one that can; nothing would be compared with it."""
    report = grade(catalog["softmax"], b"\xff\xfe\x00", seed=SEED, box=InlineBox(), take=lambda: pytest.fail("taken"))

    assert (report.status, report.seed) == (Status.REJECTED, SEED)


def test_another_seed_has_other_numbers(catalog: Catalog) -> None:
    """Nobody is given what somebody else has seen."""
    outline = Outline(prepare(catalog["softmax"], SEED))

    assert outline.numbers(prepare(catalog["softmax"], OTHER)) != outline.numbers(prepare(catalog["softmax"], SEED))


def test_what_differs_in_more_than_numbers_is_refused(catalog: Catalog) -> None:
    """Another exercise's calls in an outline would be compared with the wrong things."""
    outline = Outline(prepare(catalog["softmax"], SEED))

    with pytest.raises(AuthorError, match=f"seed {OTHER} gives other calls"):
        outline.numbers(prepare(catalog["causal_mask"], OTHER))


def test_numbers_of_another_size_are_refused(catalog: Catalog) -> None:
    """A file that was cut fills no outline."""
    outline = Outline(prepare(catalog["softmax"], SEED))

    with pytest.raises(ValueError, match=f"the outline needs {outline.size}"):
        outline.filled(SEED, bytearray(outline.size - 8))


def test_an_outline_has_one_name_in_every_process(catalog: Catalog) -> None:
    """Sets and strings are ordered and hashed anew in each process; entries on the disk outlive all of them."""
    here = Outline(prepare(catalog["multiplicative_attention"], SEED)).digest

    for hashes in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hashes}
        told = subprocess.run(
            [sys.executable, "-c", DIGEST, "multiplicative_attention"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert told.stdout.strip() == here


def _timeless(report: Report) -> str:
    return replace(report, seconds=0.0).to_json()
