"""What the store hands out: plain values, detached from any session or database.

Times are seconds since the epoch, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from grader.judge.report import Report, Status

UserId = NewType("UserId", int)
SubmissionId = NewType("SubmissionId", str)  # opaque, unguessable


class Role(StrEnum):
    """What a person may do."""

    STUDENT = "student"
    INSTRUCTOR = "instructor"


class State(StrEnum):
    """Where a submission is on its way; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"  # there is a report, whatever it says
    CANCELLED = "cancelled"
    BROKEN = "broken"  # our fault after all retries; uses up no attempt


@dataclass(frozen=True, slots=True)
class User:
    """A person with an account."""

    id: UserId
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission as stored; `report` is there when `state` is DONE or BROKEN.

    `raw` is what was handed in, byte for byte, and is what gets graded; `source` is the same as text to show, with a
    mark in place of what is no UTF-8.
    """

    id: SubmissionId
    user: UserId
    exercise: str
    exercise_version: str
    source: str
    seed: int
    device: str
    state: State
    number: int  # the user's n-th submission to this exercise, from 1
    created: float
    finished: float | None = None
    report: Report | None = None
    raw: bytes = b""
    torch_version: str = ""  # of the service that took it


@dataclass(frozen=True, slots=True)
class Attempt:
    """A line of *My attempts*."""

    id: SubmissionId
    exercise: str
    number: int
    created: float
    state: State
    status: Status | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of a leaderboard. Order: score, then fewer attempts, then earlier; equal lines share a rank.

    On an exercise's board `score` is the best score and `attempts` those up to and including it; on the overall
    board both are sums over the exercises and `solved` counts those with full marks.
    """

    rank: int
    user: UserId
    name: str
    score: float
    attempts: int
    reached: float
    solved: int = 0


@dataclass(frozen=True, slots=True)
class Watch:
    """A submission's progress as its owner sees it.

    `ahead` counts submissions that will be taken before it; `step` names the case being run, `done` of `total` calls.
    """

    state: State
    ahead: int = 0
    step: str = ""
    done: int = 0
    total: int = 0
    elapsed: float = 0.0  # seconds since it was submitted
    report: Report | None = None
