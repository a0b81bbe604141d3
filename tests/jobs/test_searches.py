"""Verdicts come before the causes of others: a search is put off while somebody waits, and never lost for that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from grader.box.cancel import CancelToken
from grader.errors import Killed
from grader.jobs import worker
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.queue import Claim, Tracker
from grader.jobs.table import TableJobs
from grader.judge.report import Diagnosis, Report
from grader.store import people, submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.gradings import Grading as Result
from grader.store.records import GradingId, Role, State, Submission, SubmissionId
from tests.jobs.classroom import full_marks, hand_in, states, until

Make = Callable[..., EmbeddedEngine]
CAUSE = Diagnosis("forgot_scaling", "The scores are not scaled", "Divide by the root of d.", True)


class Grading:
    """Grades what is called wrong with 40 points, and finds the cause later; `done` says what came after what."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def grade(self, submission: Submission, tracker: Tracker) -> Report:
        """Return the verdict; what is endless never has one, but lets others go first."""
        self.done.append(submission.id)
        while submission.id.startswith("endless"):
            time.sleep(0.01)
            tracker.cancel.check()
        report = full_marks(submission, tracker)
        if not submission.id.startswith("wrong"):
            return report
        report = replace(report, score=40.0)
        tracker.complete = partial(self.search, submission.id, report)
        return replace(report, complete=False)

    def search(self, id: str, report: Report, _cancel: CancelToken) -> Report:
        self.done.append(f"cause of {id}")
        return replace(report, diagnosis=(CAUSE,))


def report_on(database: Database, id: str) -> Report | None:
    with database.read() as session:
        found = submissions.get(session, SubmissionId(id))
    return found.report if found else None


def explained(database: Database, *ids: str) -> Callable[[], bool]:
    return lambda: all((report := report_on(database, id)) is not None and bool(report.diagnosis) for id in ids)


def test_who_waits_has_a_verdict_before_others_have_their_cause(database: Database, engine: Make) -> None:
    """All verdicts come first, in the order of the queue; then the causes, in the same order."""
    grading = Grading()
    one = engine(grading.grade)
    for place, id in enumerate(("wrong 1", "right 1", "wrong 2", "right 2")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    until(explained(database, "wrong 1", "wrong 2"), "both causes are stored")

    assert grading.done == ["wrong 1", "right 1", "wrong 2", "right 2", "cause of wrong 1", "cause of wrong 2"]


def test_members_causes_wait_for_members_only(database: Database, engine: Make) -> None:
    """However many visitors wait: a member's cause comes before their verdicts, and theirs after everybody's."""
    grading = Grading()
    with database.write() as session:
        for name in ("visitor", "another visitor"):
            people.add(session, name, Role.LEARNER, key=name, password="hash", now=1.0)
    one = engine(grading.grade)
    hand_in(database, one, "wrong of a visitor", user="visitor", priority=0)
    hand_in(database, one, "wrong of a member", priority=1)
    hand_in(database, one, "right of a member", priority=3)
    for n in range(5):
        hand_in(database, one, f"right {n}", user="another visitor", exercise=f"exercise {n}", priority=2 + 2 * n)
    one.run({"cpu": 1})
    until(explained(database, "wrong of a visitor", "wrong of a member"), "both causes are stored")

    assert grading.done[:3] == ["wrong of a visitor", "wrong of a member", "right of a member"]
    assert grading.done[3:5] == ["cause of wrong of a member", "right 0"]
    assert grading.done[-1] == "cause of wrong of a visitor"


@pytest.mark.parametrize("limit", ["MOST_WAITING", "PRESSING_SECONDS"])
def test_a_cause_does_not_wait_for_everybody(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Where too many wait, or one waits for too long, the oldest is looked for before the next verdict."""
    monkeypatch.setattr(worker, limit, 0)
    grading = Grading()
    one = engine(grading.grade)
    for place, id in enumerate(("wrong 1", "right 1", "wrong 2", "right 2")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    until(lambda: len(grading.done) == 6, "all is done")

    assert grading.done == ["wrong 1", "cause of wrong 1", "right 1", "wrong 2", "cause of wrong 2", "right 2"]


def test_causes_that_press_leave_every_other_turn_to_verdicts(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many have waited for long: between two of them there is a verdict of whoever waits for one."""
    grading = Grading()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if submission.id == "wrong 3":
            for n in range(3):
                hand_in(database, one, f"right {n}", priority=n)
            monkeypatch.setattr(worker, "PRESSING_SECONDS", 0.0)
        return grading.grade(submission, tracker)

    one = engine(grade)
    for n in range(4):
        hand_in(database, one, f"wrong {n}", user="busy", exercise=f"e{n}", priority=n)
    one.run({"cpu": 1})
    until(lambda: len(grading.done) == 11, "all is done")

    turns = [f"{what} {n}" for n in range(4) for what in ("cause of wrong", "right")]
    assert grading.done[4:] == turns[:7]


@pytest.mark.parametrize("limit", ["MOST_WAITING", "PRESSING_SECONDS"])
def test_no_cause_of_a_visitor_comes_before_a_verdict_of_a_member(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Not where too many wait either: of those the last is given up, and its report says so."""
    monkeypatch.setattr(worker, limit, 1 if limit == "MOST_WAITING" else 0.0)
    grading = Grading()
    with database.write() as session:
        people.add(session, "visitor", Role.LEARNER, key="visitor", password="hash", now=1.0)
    one = engine(grading.grade)
    for n in range(3):
        hand_in(database, one, f"wrong {n}", user="visitor", exercise=f"e{n}", priority=n)
        hand_in(database, one, f"right {n}", priority=10 + n)
    one.run({"cpu": 1})
    ended = [f"wrong {n}" for n in range(3)]
    until(lambda: all((report := report_on(database, id)) and report.complete for id in ended), "all is done")

    causes = [n for n, id in enumerate(grading.done) if id.startswith("cause")]
    assert min(causes) > max(grading.done.index(f"right {n}") for n in range(3))
    assert len(causes) == (1 if limit == "MOST_WAITING" else 3)


def test_a_slot_that_is_busy_holds_up_no_cause(database: Database, engine: Make) -> None:
    """One slot has an answer that takes long; the other one gives the verdicts and looks for their causes."""
    grading = Grading()
    one = engine(grading.grade)
    one.run({"cpu": 2})
    hand_in(database, one, "endless")
    until(lambda: grading.done == ["endless"], "it runs")
    for number in (1, 2):
        hand_in(database, one, f"wrong {number}")
    until(explained(database, "wrong 1", "wrong 2"), "both causes are stored")

    assert grading.done.count("endless") == 1
    one.cancel(SubmissionId("endless"))


@pytest.mark.parametrize("quick_seconds", [0.05])
def test_answers_that_take_long_do_not_keep_causes_waiting(
    database: Database, engine: Make, quick_seconds: float
) -> None:
    """Whoever has had a turn lets the causes go first, as it lets newcomers go."""
    grading = Grading()
    one = engine(grading.grade)
    hand_in(database, one, "wrong", priority=0)
    hand_in(database, one, "endless", priority=1)
    one.run({"cpu": 1})
    until(explained(database, "wrong"), "the cause is stored")

    assert grading.done[:3] == ["wrong", "endless", "cause of wrong"]
    one.cancel(SubmissionId("endless"))


def test_the_causes_that_wait_are_found_before_a_stop(database: Database, engine: Make) -> None:
    """A drain takes no new job, but loses no cause of a verdict that it gave."""
    grading = Grading()
    started, go = threading.Event(), threading.Event()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if submission.id == "wrong 2":
            started.set()
            assert go.wait(20)
        return grading.grade(submission, tracker)

    one = engine(grade)
    for place, id in enumerate(("wrong 1", "wrong 2", "right")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    assert started.wait(20)
    draining = threading.Thread(target=one.drain, args=(20.0,))
    draining.start()
    until(lambda: one._stop.is_set(), "draining")
    go.set()
    draining.join(20)

    assert explained(database, "wrong 1", "wrong 2")()
    assert states(database)["right"] is State.QUEUED


def test_a_search_that_outlasts_a_stop_is_given_up(database: Database, engine: Make) -> None:
    """It is ended, with those behind it; the reports say that the search was interrupted, and the points stay."""
    grading = Grading()
    started = threading.Event()

    def search(id: str, report: Report, cancel: CancelToken) -> Report:
        started.set()
        while True:
            time.sleep(0.01)
            cancel.check()

    grading.search = search  # type: ignore[method-assign]
    one = engine(grading.grade)
    for place, id in enumerate(("wrong 1", "wrong 2")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    assert started.wait(20)
    one.drain(0.1)
    until(lambda: not one._searches["cpu"].open, "given up")

    for id in ("wrong 1", "wrong 2"):
        report = report_on(database, id)
        assert report is not None
        assert (report.score, report.complete, report.diagnosis) == (40.0, True, ())
        assert any("interrupted the search" in line for line in report.advice)


def test_what_was_killed_before_is_searched_through_alone(database: Database, engine: Make) -> None:
    """The search runs the code again, and nothing of others runs beside it."""
    done: list[str] = []

    def search(report: Report, _cancel: CancelToken) -> Report:
        done.append("search begins")
        hand_in(database, one, "right")
        time.sleep(0.3)
        done.append("search ends")
        return report

    def grade(submission: Submission, tracker: Tracker) -> Report:
        if submission.id == "right":
            done.append("right")
            return full_marks(submission, tracker)
        if not tracker.alone:
            raise Killed("by the kernel")
        report = replace(full_marks(submission, tracker), score=40.0)
        tracker.complete = partial(search, report)
        return replace(report, complete=False)

    one = engine(grade)
    one.run({"cpu": 2})
    hand_in(database, one, "wrong")
    until(lambda: len(done) == 3, "all is done")

    assert done == ["search begins", "search ends", "right"]


def test_a_stop_right_after_a_verdict_loses_no_cause(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job has gone from its table by then, and the search is not in its list yet."""
    grading, stored = Grading(), threading.Event()
    finish = TableJobs.finish

    def finish_slowly(jobs: TableJobs, claim: Claim, result: Result) -> GradingId | None:
        id = finish(jobs, claim, result)
        stored.set()
        time.sleep(0.5)
        return id

    monkeypatch.setattr(TableJobs, "finish", finish_slowly)
    one = engine(grading.grade)
    one.run({"cpu": 1})
    hand_in(database, one, "wrong")
    assert stored.wait(20)
    assert one.drain(20.0)

    assert explained(database, "wrong")()


def test_nobody_gets_the_report_of_another_one(database: Database, engine: Make) -> None:
    """An account is deleted while its search runs, and the id of its grading is given to the next one's."""
    grading = Grading()
    started, go, plain = threading.Event(), threading.Event(), grading.search

    def search(id: str, report: Report, cancel: CancelToken) -> Report:
        if id == "wrong 1":
            started.set()
            assert go.wait(20)
            report = replace(report, output="of the first")
        return plain(id, report, cancel)

    grading.search = search  # type: ignore[method-assign]
    one = engine(grading.grade)
    one.run({"cpu": 2})
    gone = hand_in(database, one, "wrong 1")
    assert started.wait(20)
    with database.write() as session:
        people.delete_person(session, gone.user)
    hand_in(database, one, "wrong 2")
    until(explained(database, "wrong 2"), "the second has its cause")
    go.set()
    one.drain(20.0)

    report = report_on(database, "wrong 2")
    assert report is not None
    assert report.output == ""


@pytest.mark.parametrize("quick_seconds", [0.2])
def test_one_slot_is_enough_for_causes(database: Database, engine: Make, quick_seconds: float) -> None:
    """Of three answers that take long one lets the cause go first; the others go on."""
    grading = Grading()
    one = engine(grading.grade)
    for place, id in enumerate(("endless 1", "wrong", "endless 2", "endless 3")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 3})
    until(explained(database, "wrong"), "the cause is stored")
    before = [id for id in grading.done if id.startswith("endless")]
    for number in (1, 2, 3):
        one.cancel(SubmissionId(f"endless {number}"))

    assert len(before) <= 4


def test_a_cause_that_the_database_refuses_costs_no_other(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also at a stop, when a worker that fails has nobody who goes on for it."""
    refused: list[GradingId] = []
    complete = TableJobs.complete

    def refuse_once(jobs: TableJobs, id: GradingId, *rest: Any, **named: Any) -> None:
        if not refused:
            refused.append(id)
            raise RuntimeError("refused")
        complete(jobs, id, *rest, **named)

    monkeypatch.setattr(TableJobs, "complete", refuse_once)
    grading = Grading()
    one = engine(grading.grade)
    for place, id in enumerate(("wrong 1", "wrong 2")):
        hand_in(database, one, id, priority=place)
    one.run({"cpu": 1})
    until(lambda: len(grading.done) >= 2, "both have a verdict")
    one.drain(20.0)

    assert explained(database, "wrong 2")()
    assert not explained(database, "wrong 1")()


def test_no_cause_is_lost_while_the_database_is_away(
    database: Database, engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that is: what is found could not be stored, so nothing is looked for."""
    monkeypatch.setattr(worker, "PRESSING_SECONDS", 0.1)
    gone = threading.Event()

    def while_it_is_there(name: str) -> None:
        plain = getattr(TableJobs, name)

        def asked(*given: Any, **options: Any) -> Any:
            if gone.is_set():
                raise StoreUnavailable("gone")
            return plain(*given, **options)

        monkeypatch.setattr(TableJobs, name, asked)

    for name in ("newcomers", "complete", "next_was_killed", "take"):
        while_it_is_there(name)
    grading = Grading()

    def grade(submission: Submission, tracker: Tracker) -> Report:
        gone.set()
        return grading.grade(submission, tracker)

    one = engine(grade)
    one.run({"cpu": 1})
    hand_in(database, one, "wrong 1")
    until(lambda: states(database)["wrong 1"] is State.DONE, "it has its verdict")
    time.sleep(0.5)
    assert grading.done == ["wrong 1"]
    gone.clear()
    until(explained(database, "wrong 1"), "the cause is stored")
