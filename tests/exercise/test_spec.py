"""The specification: what an author writes wrongly is told by file, place and remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import AuthorError
from grader.exercise.catalog import Catalog, read_exercise
from grader.exercise.spec import read_spec

_GOOD = """
format_version = 1
title = "A title"
summary = "A summary."
track = "Foundations"
order = 1
difficulty = "easy"
minutes = 5
sources = ["A source"]

[entry]
name = "f"
kind = "function"
arguments = ["x"]

[inputs.x]
axes = ["time", "width"]

[returns.y]
axes = ["time", "width"]

[[cases]]
name = "small"
title = "a small one"
sizes = { time = 3, width = 4 }

[[checks]]
check = "shape"
points = 100
cases = ["small"]
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes an `exercise.toml` and gives its path."""

    def do(text: str) -> Path:
        path = tmp_path / "exercise.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return do


def test_a_good_file_is_read(write: Callable[[str], Path]) -> None:
    """What is left out has its default."""
    spec = read_spec(write(_GOOD))

    assert (spec.entry.name, spec.cases[0].sizes, spec.forbidden) == ("f", {"time": 3, "width": 4}, ("attention",))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("points = 100", "points = 99"), "the points of all checks add up to 99; they must be 100"),
        (('cases = ["small"]', 'cases = ["smal"]'), "check `shape` names cases that are not there: smal"),
        (('difficulty = "easy"', 'difficulty = "trivial"'), "difficulty: Input should be 'easy', 'medium' or 'hard'"),
        (('title = "A title"', ""), "title: Field required"),
        (("minutes = 5", "minute = 5"), "minute: Extra inputs are not permitted"),
        (("points = 100", "points = -1"), "checks.0.points"),
        (("format_version = 1", "format_version = 2"), "format_version: Input should be 1"),
        (("[[checks]]", '[[cases]]\nname = "small"\ntitle = "twice"\n\n[[checks]]'), "two cases have the same name"),
        (("[entry]", "[entry"), "is no valid TOML"),
        (("[inputs.x]", "[inputs.y]"), "`inputs` is y; it must be one of x"),
        (('arguments = ["x"]', 'arguments = ["x"]\ndefaults = { z = 1 }'), "`defaults` is z; it must be one of x"),
        (
            ("width = 4 }", "width = 4 }\nconstruct = { z = 1 }"),
            "case `small`: `construct` is z; it must be one of nothing",
        ),
        (("width = 4 }", "width = 4 }\narguments = { z = 1 }"), "case `small`: `arguments` is z; it must be one of x"),
        (
            ("width = 4 }", "width = 4 }\ninputs = { z = { scale = 2 } }"),
            "case `small`: `inputs` is z; it must be one of x",
        ),
        (("width = 4 }", "width = 4 }\ninputs = { x = { size = 2 } }"), "case `small`: `inputs.x.size`: Extra inputs"),
    ],
)
def test_a_wrong_file_says_where_and_how(change: tuple[str, str], words: str, write: Callable[[str], Path]) -> None:
    """The text names the file, the field, and what is expected there."""
    assert change[0] in _GOOD
    path = write(_GOOD.replace(*change))

    with pytest.raises(AuthorError) as caught:
        read_spec(path)

    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_an_axis_without_a_size_is_told_with_its_case(tmp_path: Path) -> None:
    """There may be a dozen cases."""
    folder = tmp_path / "exercises" / "made_up"
    (tmp_path / "reference").mkdir()
    folder.mkdir(parents=True)
    (tmp_path / "reference" / "made_up.py").touch()
    (folder / "exercise.toml").write_text(_GOOD.replace(", width = 4", ""), encoding="utf-8")

    with pytest.raises(AuthorError, match="case `small`: axis `width` has no size"):
        read_exercise(folder, tmp_path).cases(0)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """So is a missing reference, with what to do about it."""
    with pytest.raises(AuthorError, match="cannot be read: No such file"):
        read_spec(tmp_path / "exercise.toml")
    with pytest.raises(AuthorError, match="write the reference of `nothing` there"):
        read_exercise(tmp_path / "exercises" / "nothing", tmp_path)


def test_a_case_maker_that_is_missing_is_named(write: Callable[[str], Path], tmp_path: Path) -> None:
    """The text says which function of which file a case asks for."""
    folder = tmp_path / "exercises" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "one.py").write_text("", encoding="utf-8")
    text = _GOOD.replace('title = "a small one"', 'title = "a small one"\nmake = "no_such"')
    (folder / "exercise.toml").write_text(text, encoding="utf-8")
    (folder / "inputs.py").write_text("", encoding="utf-8")

    with pytest.raises(AuthorError, match=r"inputs\.py` defines no function `no_such`"):
        Catalog.load(tmp_path)["one"].cases(0)
