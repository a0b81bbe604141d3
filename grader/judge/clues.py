"""What a report says of code that reaches for something ready-made, or contradicts itself: where, what, how seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Sight(StrEnum):
    """How something was seen."""

    TRAPPED = "trapped"  # a forbidden operation: it was called while the code ran, and stopped
    READ = "read"  # a forbidden operation: it stands in the source, where the answer leads to it
    UNUSUAL = "unusual"  # it stands in the source, and no answer needs it
    CONTRADICTED = "contradicted"  # what the code told contradicts itself, or what was found outside of the box


@dataclass(frozen=True, slots=True)
class Clue:
    """A place where the code reached for what the exercise forbids, or for what no answer needs; or a contradiction.

    Attributes:
        sight: which of them, and how it was seen.
        what: the operation, or whatever stands there; the contradiction in words.
        line: in the source, from 1; None where no single line led there.
        function: the one that the line is in, `Attention.forward`; empty for none.
        cell: of a notebook, in which the line is counted; None in a plain file.
    """

    sight: Sight
    what: str
    line: int | None = None
    function: str = ""
    cell: int | None = None

    @property
    def text(self) -> str:
        """What it is and where, in words to the student."""
        what = {
            Sight.TRAPPED: f"`{self.what}` was called and blocked",
            Sight.READ: f"`{self.what}` appears in your code",
            Sight.UNUSUAL: f"`{self.what}`, which this exercise does not need; it costs no points",
            Sight.CONTRADICTED: self.what,
        }[self.sight]
        function = f", in `{self.function}`" if self.function else ""
        cell = f"cell {self.cell}, " if self.cell else ""
        return f"{cell}line {self.line}{function}: {what}" if self.line else what


WHY = (
    "In this exercise you write this step yourself, so PyTorch's own version is blocked: a case that calls it earns "
    "no points, even if your code continues without it."
)


class Flag(StrEnum):
    """What an instructor's list says about a submission; students are shown the clues instead."""

    NONE = ""
    LOOK = "look"  # it holds something that no answer needs
    READY_MADE = "ready-made"  # it reaches for a forbidden operation


def flag_of(clues: Iterable[Clue]) -> Flag:
    """Return what clues come to, for whoever has many submissions to look through."""
    sights = {clue.sight for clue in clues}
    if sights & {Sight.TRAPPED, Sight.READ}:
        return Flag.READY_MADE
    return Flag.LOOK if sights else Flag.NONE
