"""Machines are upgraded one by one: everything is graded once, and each result says what it was graded with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from grader.box.inline import InlineBox
from grader.box.run import Box
from grader.cli.operations import mixed
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.jobs import overview
from grader.jobs.engine import GradingEngine
from grader.jobs.grading import grade_with
from grader.jobs.queue import Tracker
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.store.gradings import Versions
from grader.store.records import State, Submission, SubmissionId, UserId
from grader.store.tables import GradingRow
from tests.jobs import postgres
from tests.jobs.classroom import PATIENCE_SECONDS, full_marks, hand_in, states, until
from tests.jobs.engines import Site, on_postgres


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with postgres.served() as server, on_postgres(server, tmp_path) as site:
        yield site


class Fleet:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.begun: list[str] = []
        self.go_on = threading.Event()

    def start(self, version: str) -> GradingEngine:
        made_with = Versions(exercise=f"exercise {version}", grader=f"grader {version}", torch="2")
        engine = self._site.machine(self._grade, versions=lambda _: made_with, version=version)
        engine.run({"cpu": 1})
        return engine

    def results(self) -> list[tuple[str, str, str]]:
        """Return each result: of which submission, with which files and which code."""
        row = GradingRow
        query = select(row.submission_id, row.exercise_version, row.grader_version).order_by(row.submission_id)
        with self._site.database.read() as session:
            return [(id, files, code) for id, files, code in session.execute(query)]

    def _grade(self, submission: Submission, tracker: Tracker) -> Report:
        self.begun.append(submission.id)
        self.go_on.wait(PATIENCE_SECONDS)
        return full_marks(submission, tracker)


def test_a_machine_after_the_other_is_upgraded_while_both_grade(site: Site) -> None:
    """The old one finishes what it has at its stop, the new one takes the rest; meanwhile both versions are told."""
    fleet = Fleet(site)
    old = fleet.start("1")
    hand_in(site.database, old, "s0")
    until(lambda: fleet.begun == ["s0"], "the old one grades")
    new = fleet.start("2")
    for n in range(1, 5):
        hand_in(site.database, new, f"s{n}", priority=n)
    until(lambda: fleet.begun == ["s0", "s1"], "both grade")
    until(lambda: _code(site) == {"1": 1, "2": 1}, "both show their version")
    stopping = threading.Thread(target=old.drain, args=(PATIENCE_SECONDS,))
    stopping.start()
    until(lambda: not old.grades(), "the old one takes nothing more")
    fleet.go_on.set()
    stopping.join()
    until(lambda: set(states(site.database).values()) == {State.DONE}, "all are graded")

    made_with = {"s0": "1"}
    assert fleet.results() == [
        (id, f"exercise {made_with.get(id, '2')}", f"grader {made_with.get(id, '2')}")
        for id in ("s0", "s1", "s2", "s3", "s4")
    ]
    assert _code(site) == {"2": 1}


@pytest.mark.parametrize(("handed_in", "told"), [("older", 1), ("", 0)], ids=["another", "the same"])
def test_a_report_says_that_the_exercise_was_another_at_the_hand_in(box: Box, handed_in: str, told: int) -> None:
    """It names both versions, and what to do; of an exercise that has not changed nothing is said."""
    exercise = read_exercise(ROOT / "exercises" / "softmax")
    source = (exercise.folder / "examples" / "right_detached_max.py").read_bytes()
    submission = Submission(
        id=SubmissionId("s1"), user=UserId(1), exercise="softmax", exercise_version=handed_in or exercise.version,
        seed=1, device="cpu", created=1.0, raw=source,
    )  # fmt: skip
    report = grade_with(Catalog([exercise]), box)(submission, Tracker())

    words = f"between your hand-in (older) and its grading ({exercise.version})"
    assert sum(words in advice for advice in report.advice) == told
    assert report.score == 100.0


def test_the_service_says_what_the_command_line_says() -> None:
    """Of a slip that shows only after a long search, with the same seed: the same causes, place and advice."""
    exercise = read_exercise(ROOT / "exercises" / "additive_attention")
    source = (exercise.folder / "examples" / "wrong_adds_in_place.py").read_bytes()
    submission = Submission(
        id=SubmissionId("s1"), user=UserId(1), exercise=exercise.id, exercise_version=exercise.version,
        seed=5, device="cpu", created=1.0, raw=source,
    )  # fmt: skip
    tracker = Tracker()
    grade_with(Catalog([exercise]), InlineBox())(submission, tracker)
    assert tracker.complete is not None
    served, alone = tracker.complete(), grade(exercise, source, seed=5, box=InlineBox())

    assert (served.diagnosis, served.location, served.advice) == (alone.diagnosis, alone.location, alone.advice)


def test_status_tells_versions_that_differ() -> None:
    """With how many processes run each; of one version there is nothing to tell."""
    assert mixed({"abc": 2}) == []
    assert mixed({"def": 1, "abc": 2}) == [
        "upgrade: grading processes differ: abc (2), def (1); each result says which one it comes from"
    ]


def _code(site: Site) -> dict[str, int]:
    with site.database.read() as session:
        return dict(overview.grading_code(session))
