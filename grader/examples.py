"""Examples: right and wrong answers that are kept beside the tests, each with its verdict in the first lines.

    # verdict: loses numerics
    # diagnosis: no_scaling

A right one says `# verdict: full marks`; one with two mistakes names both, with a comma between.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import AuthorError
from grader.exercise.catalog import ROOT
from grader.exercise.spec import Dimension

SUBMISSIONS = ROOT / "tests" / "submissions"


@dataclass(frozen=True, slots=True)
class Example:
    """A submission kept as an example, with the verdict that its first lines ask for.

    `loses` names the dimension that must lose points, None for full marks; `diagnosis` the mistake to be named, or two.
    """

    path: Path
    loses: Dimension | None
    diagnosis: tuple[str, ...]


def read_examples(exercise: str, folder: Path = SUBMISSIONS) -> list[Example]:
    """Return the examples of an exercise, in the order of their names.

    Raises:
        AuthorError: an example does not say what its verdict must be.
    """
    return [_read_example(path) for path in sorted((folder / exercise).glob("*.py"))]


def _read_example(path: Path) -> Example:
    said: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
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
    return Example(path, Dimension(verdict.removeprefix("loses ")), _names(said.get("diagnosis", "")))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
