"""The numbers of a statement's microscope, a fenced block of TOML: what attention is stepped through with there.

The browser computes from them what the reference does: scores, scaled scores, masked scores, weights and output. Pages
are served by a process without torch, and a reader changes the numbers; so no result is written down here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from grader.exercise.block import read_block

FENCE = "microscope"
_BLOCK = re.compile(rf"^```{FENCE}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MOST = 6  # heads, queries, keys or features: what fits on a phone

Row = Annotated[tuple[FiniteFloat, ...], Field(min_length=1, max_length=_MOST)]
Matrix = Annotated[tuple[Row, ...], Field(min_length=1, max_length=_MOST)]
Heads = Annotated[tuple[Matrix, ...], Field(min_length=1, max_length=_MOST)]
Mask = Annotated[tuple[tuple[bool, ...], ...], Field(min_length=1, max_length=_MOST)]


class Microscope(BaseModel):
    """What a block says; each of the first four is a matrix, or a list of them, one a head.

    Attributes:
        query, key: rows of features; scores are their dot products.
        scores: in the place of both.
        value: a row for each key; left out, the last step is the weights.
        d_k: scores are divided by its square root; left out, they are not.
        mask: `causal`, or rows of bools, true or 1 where the query may attend; one row stands for all queries.
        mask_on: whether the mask is on to begin with.
        show: the query that is shown to begin with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Matrix | Heads | None = None
    key: Matrix | Heads | None = None
    scores: Matrix | Heads | None = None
    value: Matrix | Heads | None = None
    d_k: Annotated[int, Field(ge=1)] | None = None
    mask: Literal["causal"] | Mask | None = None
    mask_on: bool = True
    show: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.scores is None) == (self.query is None or self.key is None):
            raise ValueError("give `query` and `key`, or else `scores`")
        heads = {name: _heads(given) for name in _TENSORS if (given := getattr(self, name)) is not None}
        if len({len(matrices) for matrices in heads.values()}) > 1:
            raise ValueError("every matrix must be there for the same number of heads")
        for matrices in zip(*heads.values(), strict=True):
            _check(dict(zip(heads, matrices, strict=True)), self.rows_of_mask)
        if self.show >= self.queries:
            raise ValueError(f"`show` is {self.show}, and there are {self.queries} queries")
        return self

    @property
    def queries(self) -> int:
        """How many there are; without `query`, the rows of scores."""
        return len((self.heads.get("scores") or self.heads["query"])[0])

    @property
    def heads(self) -> dict[str, tuple[Matrix, ...]]:
        """Every matrix that was given, as a list with one for each head."""
        return {name: _heads(given) for name in _TENSORS if (given := getattr(self, name)) is not None}

    @property
    def rows_of_mask(self) -> tuple[tuple[bool, ...], ...] | None:
        """The mask as a row for each query; None without one."""
        given = self.heads
        keys = len(given["scores"][0][0]) if self.scores else len(given["key"][0])
        if self.mask == "causal":
            return tuple(tuple(key <= query for key in range(keys)) for query in range(self.queries))
        return self.mask * self.queries if self.mask is not None and len(self.mask) == 1 else self.mask


_TENSORS = ("query", "key", "scores", "value")


def microscope(text: str) -> Microscope:
    """Return what a block says.

    Raises:
        AuthorError: it is no TOML, or its numbers do not fit together.
    """
    return read_block(Microscope, text, what="microscope")


def blocks(statement: str) -> Iterator[str]:
    """Yield the text of each block of a statement."""
    yield from _BLOCK.findall(statement)


def _heads(given: Matrix | tuple[Matrix, ...]) -> tuple[Matrix, ...]:
    return given if given and isinstance(given[0][0], tuple) else (given,)  # type: ignore[return-value]  # by depth


def _check(given: dict[str, Matrix], mask: tuple[tuple[bool, ...], ...] | None) -> None:
    """Check that the matrices of one head fit together.

    Raises:
        ValueError: they do not.
    """
    for name, matrix in given.items():
        if len({len(row) for row in matrix}) > 1:
            raise ValueError(f"the rows of `{name}` differ in length")
    queries = given.get("scores") or given["query"]
    keys = len(queries[0]) if "scores" in given else len(given["key"])
    if "scores" not in given and len(queries[0]) != len(given["key"][0]):
        raise ValueError("`query` and `key` differ in width")
    if "value" in given and len(given["value"]) != keys:
        raise ValueError(f"`value` needs a row for each of the {keys} keys")
    if mask is not None and (len(mask) != len(queries) or {len(row) for row in mask} != {keys}):
        raise ValueError(f"`mask` needs {keys} columns, and one row or {len(queries)}")
    if mask is not None and not all(any(row) for row in mask):
        raise ValueError("`mask` leaves a query without any key")
