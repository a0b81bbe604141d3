"""The numbers of a statement's chart, a fenced block of TOML: one to three lines over the same points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from grader.exercise.block import read_block

FENCE = "chart"
_BLOCK = re.compile(rf"^```{FENCE}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINES, _POINTS = 3, 60  # as many as can be told apart, and seen

Name = Annotated[str, Field(min_length=1, max_length=40)]
Numbers = Annotated[tuple[FiniteFloat, ...], Field(min_length=2, max_length=_POINTS)]


class Chart(BaseModel):
    """What a block says.

    Attributes:
        title: what is seen, also for those who cannot see it.
        across, up: what the numbers of the two axes are.
        at: where the points stand on the axis across, in rising order.
        lines: by the name of each line, its numbers at these points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=120)]
    across: Name
    up: Name
    at: Numbers
    lines: Annotated[dict[Name, Numbers], Field(min_length=1, max_length=_LINES)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if any(left >= right for left, right in zip(self.at, self.at[1:], strict=False)):
            raise ValueError("the numbers of `at` must rise")
        for name, numbers in self.lines.items():
            if len(numbers) != len(self.at):
                raise ValueError(f"line `{name}` has {len(numbers)} numbers for {len(self.at)} points")
        return self


def chart(text: str) -> Chart:
    """Return what a block says.

    Raises:
        AuthorError: it is no TOML, or its numbers do not fit together.
    """
    return read_block(Chart, text, what="chart", depth=2)


def blocks(statement: str) -> Iterator[str]:
    """Yield the text of each block of a statement."""
    yield from _BLOCK.findall(statement)
