"""What a report says of the reason why an answer is wrong: a known mistake, or the place where it begins to differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Numbers = tuple[tuple[float, ...], ...]
Standing = Literal["given", "right", "inside", "first", "follows", "unknown"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A likely cause, in words to the student.

    Attributes:
        mistake: its id, the name of the function in `mistakes.py`.
        title: one line.
        message: what happened, why it is wrong, where to look.
        certain: the observations agree with this mistake on every case, and with no other.
    """

    mistake: str
    title: str
    message: str
    certain: bool


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One step of the reference on the case that was looked at, yours beside expected: one example, one head.

    Attributes:
        name: `scores`, `weights` and so on; empty for a step of another kind.
        title: what the step does.
        standing: `given` (an argument), `right`, `inside` (no result of its own, and what follows from it is right),
            `first` (the first that differs), `follows` (what comes of that one), or `unknown` (not found).
        expected: the reference's numbers, as far as they are drawn.
        yours: the answer's; empty where they are not known.
        wrong: the cells that differ.
        place: where the answer has them, `line 16`; empty where no line is known.
    """

    name: str
    title: str
    standing: Standing
    expected: Numbers
    yours: Numbers = ()
    wrong: tuple[tuple[int, int], ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """Where an answer begins to differ from the reference, in words to the student.

    Attributes:
        step: the step of the reference that it is about; empty if only what is right could be told.
        title: one line.
        message: what is right up to where, and what differs.
        line: of the source, where the first other numbers are; None if no line can be named.
        case: the title of the case that was looked at; empty without stages.
        stages: the steps on that case; none where it is not about numbers.
    """

    step: str
    title: str
    message: str
    line: int | None = None
    case: str = ""
    stages: tuple[StepSeen, ...] = ()
