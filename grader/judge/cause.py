"""What a report says of the reason why an answer is wrong: a known mistake, or the place where it begins to differ."""

from __future__ import annotations

from dataclasses import dataclass


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
class Location:
    """Where an answer begins to differ from the reference, in words to the student.

    Attributes:
        step: the step of the reference that it is about; empty if only what is right could be told.
        title: one line.
        message: what is right up to where, and what differs.
        line: of the source, where the first other numbers are; None if no line can be named.
    """

    step: str
    title: str
    message: str
    line: int | None = None
