"""The version of an exercise's files: new when a score may change, the same when only words do."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.exercise.kept import pack, unpack


@pytest.fixture
def copy(tmp_path: Path) -> Exercise:
    """Give an exercise in a folder of its own."""
    return unpack(pack(read_exercise(ROOT / "exercises" / "softmax")), "softmax", tmp_path)


def changed(exercise: Exercise, file: str, old: str, new: str) -> str:
    """Return the version after one change in one of the files."""
    path = exercise.reference_path if file == "reference" else exercise.folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return read_exercise(exercise.folder, exercise.folder.parents[1]).version


def test_what_was_packed_has_the_same_version(copy: Exercise) -> None:
    """An exercise that was kept and unpacked is the same exercise."""
    assert copy.version == read_exercise(ROOT / "exercises" / "softmax").version
    assert [mistake.name for mistake in copy.mistakes]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("exercise.toml", "[3, 5]", "[5, 3]"),
        ("inputs.py", "HUGE = ", "HUGE = 2 * "),
        ("mistakes.py", "torch.", "torch . nn . functional."),
        ("reference", "return ", "return 1 * "),
    ],
)
def test_what_may_change_a_score_is_a_new_version(copy: Exercise, file: str, old: str, new: str) -> None:
    """Points, inputs, mistakes and the reference."""
    before = copy.version

    assert changed(copy, file, old, new) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("exercise.toml", 'title = "', 'title = "Another '),
        ("exercise.toml", "\n", "\n# a comment\n"),
        ("mistakes.py", '"""', '"""Another first sentence. '),
        ("reference", '"""', '"""Another first sentence. '),
    ],
)
def test_wording_is_no_new_version(copy: Exercise, file: str, old: str, new: str) -> None:
    """Titles, comments and docstrings decide nothing."""
    before = copy.version

    assert changed(copy, file, old, new) == before
