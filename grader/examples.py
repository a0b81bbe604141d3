"""Examples: right and wrong answers in `exercises/<id>/examples/`, each with its verdict in the first lines.

    # verdict: loses numerics
    # diagnosis: no_scaling

A right one says `# verdict: full marks`; one with two mistakes names both, with a comma between. An example may be a
notebook (`.ipynb`), whose first code cell begins like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import AuthorError, Rejected
from grader.exercise.spec import Dimension
from grader.judge.source import python_of

FOLDER = "examples"
SUFFIXES = frozenset({".py", ".ipynb"})


@dataclass(frozen=True, slots=True)
class Example:
    """A submission kept as an example, with the verdict that its first lines ask for.

    `loses` names the dimension that must lose points, None for full marks; `diagnosis` the mistake to be named, or two.
    """

    path: Path
    loses: Dimension | None
    diagnosis: tuple[str, ...]


def read_examples(exercise: Path) -> list[Example]:
    """Return the examples in the folder of an exercise, in the order of their names; none where none are written yet.

    Raises:
        AuthorError: an example does not say what its verdict must be.
    """
    found = (path for path in (exercise / FOLDER).glob("*") if path.suffix in SUFFIXES)
    return [_read_example(path) for path in sorted(found)]


def _read_example(path: Path) -> Example:
    said: dict[str, str] = {}
    for line in _header(path):
        if not line.startswith("#"):
            break
        key, _, value = line.lstrip("# ").partition(":")
        said[key.strip()] = value.strip()
    verdict = said.get("verdict", "")
    if verdict == "full marks":
        return Example(path, None, ())
    if verdict.removeprefix("loses ") not in set(Dimension):
        losses = f"`# verdict: loses <dimension>`, which is one of {', '.join(Dimension)}"
        raise AuthorError(f"`{path}` must begin with `# verdict: full marks` or {losses}")
    names = (name.strip() for name in said.get("diagnosis", "").split(","))
    return Example(path, Dimension(verdict.removeprefix("loses ")), tuple(filter(None, names)))


def _header(path: Path) -> list[str]:
    """Return the lines of an example, or of the first code cell of a notebook and what follows it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text.splitlines()
    try:
        return python_of(text).splitlines()[1:]  # the first line says which cell it is
    except Rejected as error:
        raise AuthorError(f"`{path}` is no notebook: {error}") from error
