"""The messages between the pages' process and its grading processes."""

from __future__ import annotations

import socket

import pytest

from grader.jobs.messages import (
    Advanced,
    Drain,
    Interrupt,
    Message,
    Moved,
    Ready,
    RunTryout,
    StartWorkers,
    Took,
    TryoutAnswered,
    TryoutDone,
    Unavailable,
    Wake,
    WronglyWritten,
    received,
    send,
)  # fmt: skip
from grader.jobs.queue import GradingSteps
from grader.jobs.tryouts import TryoutOutcome, TryoutRequest
from grader.store.records import SubmissionId

ID = SubmissionId("s1")
ALL: tuple[Message, ...] = (
    StartWorkers({"cpu": 2, "cuda": 1}), Wake("cpu"), Interrupt(ID), Drain(1.5), Ready("a box", gpu=True),
    Unavailable("no"), WronglyWritten("no case"), Moved(ID), Took(0.25),
    Advanced(ID, GradingSteps("a case", 1, 2, (4.0, 2.0))),
    RunTryout(1, TryoutRequest("softmax", "x = 1", "small", 2, {"x": "[1]"})), TryoutDone(1, TryoutOutcome("{}", "no")),
    TryoutAnswered("t1"),
)  # fmt: skip


@pytest.mark.parametrize("message", ALL, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was_sent(message: Message) -> None:
    """Type and fields, the curve of a training as well."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        send(ours, message)
        ours.shutdown(socket.SHUT_WR)

        assert list(received(theirs)) == [message]


def test_every_message_is_tried() -> None:
    """A new one is added to the list above."""
    assert {type(message) for message in ALL} == set(Message.__args__)
