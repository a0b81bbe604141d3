"""What the store hands out: plain values, detached from any session or database.

Times are seconds since the epoch, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from grader.judge.report import Flag, PartialReport, Report, Status

UserId = NewType("UserId", int)
SubmissionId = NewType("SubmissionId", str)  # opaque, unguessable
GradingId = NewType("GradingId", int)


class Role(StrEnum):
    """What a person may do."""

    STUDENT = "student"
    ASSISTANT = "assistant"  # reads the work of some sections
    INSTRUCTOR = "instructor"
    LEARNER = "learner"  # of no class: learns, and is on no board and in no list of a class


class BoardName(StrEnum):
    """Under which name a student stands on the leaderboards of a class."""

    PSEUDONYM = "pseudonym"
    NAME = "name"
    NONE = "none"  # is on no board


class Reason(StrEnum):
    """Why a submission is graded."""

    HAND_IN = "hand-in"
    REGRADE = "regrade"
    GIVEN = "given"  # it is not: its score stands in a file of events


class State(StrEnum):
    """Where a submission is on its way."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"  # there is a report, whatever it says
    CANCELLED = "cancelled"
    BROKEN = "broken"  # our fault after all retries; uses up no attempt
    SEALED = "sealed"  # it has ended, and its owner is not to see its result yet; never stored

    @property
    def final(self) -> bool:
        """Whether nothing will change it any more."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class User:
    """A person with an account, or a visitor, who has no name.

    Attributes:
        role: what they are in a class; of several classes, what lets them do most.
        email: what they sign in with as well, folded; empty without one.
        studies: whether they are a student of any class.
    """

    id: UserId
    name: str
    role: Role
    email: str = ""
    studies: bool = field(default=False, compare=False)

    @property
    def visitor(self) -> bool:
        """Whether they have not registered."""
        return not self.name

    @property
    def member(self) -> bool:
        """Whether they belong to a class."""
        return self.role is not Role.LEARNER


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person is typing for an exercise, and when it was stored, in seconds since the epoch."""

    source: str
    saved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One submission as stored.

    Attributes:
        raw: what was handed in, byte for byte, and what gets graded.
        seed: what its tensors are drawn from.
        exercise_version: of the grading files when it was handed in.
        number: the person's n-th submission to this exercise, from 1; 0 before it is stored.
        nth: which of the person's attempts it is, as people are told; 0 for one that is not counted.
        report: there when `state` is DONE or BROKEN.
        part: what is shown of the report when `state` is SEALED; None for nothing.
    """

    id: SubmissionId
    user: UserId
    exercise: str
    exercise_version: str
    raw: bytes = field(repr=False)
    seed: int = field(repr=False)
    device: str
    created: float
    state: State = State.QUEUED
    number: int = 0
    nth: int = 0
    finished: float | None = None
    report: Report | None = field(default=None, repr=False)
    part: PartialReport | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        """What was handed in as text to show, with a mark in place of what is no UTF-8."""
        return self.raw.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A line of *My attempts*.

    Attributes:
        number: its place among all that the person handed in to the exercise.
        nth: which of the person's attempts it is, as people are told; 0 for one that is not counted.
        flag: for instructors only.
        mistakes: the titles of those that the report names.
        begins: where it begins to differ from the reference, in one line; empty if the report does not say.
    """

    id: SubmissionId
    exercise: str
    number: int
    created: float
    state: State
    status: Status | None
    score: float | None
    flag: Flag = Flag.NONE
    mistakes: tuple[str, ...] = ()
    begins: str = ""
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What the same person handed in to the same exercise just before and just after, and how many attempts count."""

    previous: SubmissionId | None
    next: SubmissionId | None
    count: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which submissions of the class an instructor asks for; what is empty leaves nothing out.

    Attributes:
        student: whose they are.
        exercise: what they were handed in to.
        mistake: what their report names.
        flags: what their report says of the code.
    """

    student: UserId | None = None
    exercise: str = ""
    mistake: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedAttempt:
    """A line of an instructor's list: a submission, and whose it is."""

    attempt: Attempt
    user: UserId
    name: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of a leaderboard. Order: score, then fewer attempts, then earlier; equal lines share a rank.

    On an exercise's board `score` is the best score and `attempts` those up to and including it; on the overall
    board both are sums over the exercises and `solved` counts those with full marks. `shown` is what the person has
    chosen to be to others.
    """

    rank: int
    user: UserId
    name: str
    score: float
    attempts: int
    reached: float
    solved: int = 0
    shown: BoardName = BoardName.PSEUDONYM


@dataclass(frozen=True, slots=True)
class SubmissionOutcome:
    """What became of a submission so far; `finished` and `report` are None before its end."""

    state: State
    exercise: str
    nth: int
    created: float
    finished: float | None
    report: Report | None


@dataclass(frozen=True, slots=True)
class Watch:
    """A submission's progress as its owner sees it.

    `ahead` counts submissions that will be taken before it; `step` names the case being run, `done` of `total` calls.
    `eta` is in about how many seconds from now a waiting one will have its report; None if there is nothing to go by.
    `curve` holds the losses so far of what is being trained. `again` says of a waiting one that it took so
    long that others were let go first. `exercise` is known once it runs, and `nth`, which attempt it was, at its end.
    `part` is what is shown of a report whose rest is hidden.
    """

    state: State
    ahead: int = 0
    step: str = ""
    done: int = 0
    total: int = 0
    elapsed: float = 0.0  # seconds since it was submitted
    report: Report | None = None
    eta: int | None = None
    curve: tuple[float, ...] = ()
    again: bool = False
    exercise: str = ""
    nth: int = 0
    part: PartialReport | None = None

    @property
    def over(self) -> bool:
        """Whether nothing will change any more; a verdict comes before its cause is known."""
        return self.state.final and (self.report is None or self.report.complete)
