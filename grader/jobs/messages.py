"""The messages between the pages' process and its grading processes, as JSON over sockets that keep them apart."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import get_args

from grader.jobs.live import Live
from grader.jobs.queue import GradingSteps
from grader.jobs.tryouts import TryoutOutcome, TryoutRequest
from grader.store.records import SubmissionId

MESSAGE_BYTES = 1 << 20  # the longest ones hold a source, or tell of a curve: a thousand numbers


@dataclass(frozen=True, slots=True)
class StartWorkers:
    """To a grading process: start so many workers for each queue."""

    slots: dict[str, int]


@dataclass(frozen=True, slots=True)
class Wake:
    """To a grading process: something is in the queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """To a grading process: this submission was cancelled."""

    id: SubmissionId


@dataclass(frozen=True, slots=True)
class Drain:
    """To a grading process: take nothing new, and end within so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RunTryout:
    """To a grading process: run this, and answer under the same number."""

    number: int
    request: TryoutRequest


@dataclass(frozen=True, slots=True)
class TryoutDone:
    """From a grading process: what came of the tryout of this number."""

    number: int
    outcome: TryoutOutcome


@dataclass(frozen=True, slots=True)
class TryoutAnswered:
    """From a grading process of another machine: what came of this tryout is stored."""

    id: str


@dataclass(frozen=True, slots=True)
class Ready:
    """From a grading process: it can grade, in a box of this name."""

    box: str
    gpu: bool = False


@dataclass(frozen=True, slots=True)
class Unavailable:
    """From a grading process: this machine has no sandbox."""

    reason: str


@dataclass(frozen=True, slots=True)
class WronglyWritten:
    """From a grading process: an exercise cannot be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """From a grading process: this submission entered, left or ended its wait."""

    id: SubmissionId


@dataclass(frozen=True, slots=True)
class Took:
    """From a grading process: a grading took so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Advanced:
    """From a grading process: how far this submission is."""

    id: SubmissionId
    steps: GradingSteps


Message = (
    StartWorkers | Wake | Interrupt | Drain | RunTryout | TryoutDone | TryoutAnswered | Ready | Unavailable
    | WronglyWritten | Moved | Took | Advanced
)  # fmt: skip
_TYPES: dict[str, type[Message]] = {kind.__name__: kind for kind in get_args(Message)}
_NESTED = {"steps": GradingSteps, "request": TryoutRequest, "outcome": TryoutOutcome}  # fields that are no plain values


def heed_progress(live: Live, message: Message) -> None:
    """Pass on what a grading process says of its gradings to those who watch them here."""
    match message:
        case Moved(id):
            live.moved(id)
        case Took(seconds):
            live.took(seconds)
        case Advanced(id, steps):
            live.advance(id, steps)


def send(connection: socket.socket, message: Message, *, hint: bool = False) -> bool:
    """Send one message, and return whether it was taken; a listener who is gone is found out by whoever reads.

    A `hint` may get lost: it is dropped where some hundred messages wait to be read already.
    """
    line = encoded(message).encode()
    with suppress(OSError):
        return connection.send(line, socket.MSG_DONTWAIT if hint else 0) == len(line)
    return False


def received(connection: socket.socket) -> Iterator[Message]:
    """Yield the messages of the other side, up to its end."""
    with suppress(OSError):
        while line := connection.recv(MESSAGE_BYTES):
            yield decoded(line)


def encoded(message: Message) -> str:
    """Return a message as JSON on one line."""
    return json.dumps([type(message).__name__, asdict(message)])


def decoded(line: str | bytes) -> Message:
    """Return the message that `encoded` has written."""
    name, fields = json.loads(line)
    for field in _NESTED.keys() & fields.keys():
        fields[field] = _NESTED[field](**fields[field])
    return _TYPES[name](**fields)  # both ends are of one version
