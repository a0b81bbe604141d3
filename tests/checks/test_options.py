"""The options of a check: declared where the check is, and refused by name where they do not fit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.checks.registry import checks, items_of, read_options
from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.exercise.spec import EntrySpec, InputSpec, PartSpec, ReturnSpec, WeightSpec

_PART = PartSpec(
    entry=EntrySpec(name="F", kind="module", arguments=("x",)),
    inputs={"x": InputSpec(axes=("batch", "time"))},
    returns={"y": ReturnSpec(axes=("batch", "row"))},
    weights={"table": WeightSpec(kind="table", inputs="time")},
)
_SEEN = {"of": ["x"], "axis": "time", "output": "y", "rows": "row"}


@pytest.mark.parametrize(
    ("check", "given", "words"),
    [
        ("shape", {"of": ["x"]}, "check `shape`: it takes no `of`; it takes no options"),
        ("influence", {**_SEEN, "late": True}, "it takes no `late`; it takes `of`, `axis`, `output`, `rows`"),
        ("influence", {**_SEEN, "of": ["z"]}, "check `influence`: `of` is z; it must be one of x"),
        ("influence", {**_SEEN, "axis": "row"}, "`axis` is row; it must be one of batch, time"),
        ("influence", {**_SEEN, "output": "z"}, "`output` is z; it must be one of y"),
        ("influence", {**_SEEN, "rows": "time"}, "`rows` is time; it must be one of batch, row"),
        ("influence", {"of": ["x"], "axis": "time", "output": "y"}, "check `influence`: it needs `rows`"),
        ("permutation", {"of": [], "axis": "time", "output": "y"}, "`of`: Tuple should have at least 1 item"),
        ("row_sums", {}, "it needs `output`"),
        ("shift", {}, "it needs `offset`"),
        ("memory", {}, "it needs `max_elements`"),
        ("initial", {"weight": "W", "std": 1}, "`weight` is W; it must be one of table"),
        ("untouched", {"output": "y"}, "`output` is y; it must be one of"),
        ("loss", {"at_most": "low"}, "`at_most`: Input should be a valid number"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(check: str, given: dict[str, object], words: str) -> None:
    """The text names the check, the option, and what it must be."""
    with pytest.raises(AuthorError) as caught:
        read_options(check, checks()[check].options, given, [_PART])

    assert words in str(caught.value)


def test_options_that_fit_are_read() -> None:
    """As the check's own model, with defaults for what is left out."""
    seen = read_options("influence", checks()["influence"].options, _SEEN, [_PART])
    refused = read_options("refusal", checks()["refusal"].options, {"late": True}, [_PART])

    assert seen.model_dump() == {**_SEEN, "of": ("x",)}
    assert refused.model_dump() == {"late": True, "error": ""}


def test_every_exercise_gives_each_check_its_options(catalog: Catalog) -> None:
    """Their options are read when a sheet is drawn up, so each exercise draws one here."""
    assert {name for name, exercise in catalog.items() if _lines(exercise)} == set(catalog)


def _lines(exercise: Exercise) -> int:
    return len(list(items_of(exercise.spec, exercise.cases(0))))


def test_nobody_else_names_a_check() -> None:
    """Outside of `grader/checks`, nothing looks for a check by a literal name: it asks for traits."""
    paths = [path for path in sorted((ROOT / "grader").rglob("*.py")) if path.parent.name != "checks"]

    assert [place for path in paths for place in _named(path)] == []


def _named(path: Path) -> list[str]:
    """Return where a literal that is a check's name stands beside something that is called `check`."""
    nodes = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Compare | ast.Subscript)
    ]
    known = set(checks())
    return [f"{path.name}:{node.lineno}" for node in nodes if _asks_for_a_check(node) and _literals(node) & known]


def _asks_for_a_check(node: ast.AST) -> bool:
    names = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in ast.walk(node)}
    return bool(names & {"check", "checks"})


def _literals(node: ast.AST) -> set[object]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
