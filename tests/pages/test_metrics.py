"""The figures for Prometheus, as its own reader reads them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from grader.jobs.engine import EmbeddedEngine
from grader.pages.monitoring import KEPT_SECONDS, Metrics
from grader.service.service import Condition
from grader.store import submissions
from grader.store.engine import Database, StoreUnavailable
from grader.store.records import SubmissionId
from tests.jobs.classroom import full_marks, hand_in, open_database, until
from tests.service.conftest import Clock

Figures = dict[tuple[str, ...], float]


def read(metrics: Metrics) -> Figures:
    """Return each figure by its name and the values of its labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def is_graded(database: Database, id: str) -> bool:
    """Return whether a submission has its verdict."""
    with database.read() as session:
        found = submissions.get(session, SubmissionId(id))
    return found is not None and found.state.final


def test_the_figures_follow_a_hand_in_to_its_verdict(tmp_path: Path) -> None:
    """It waits, it is graded, and then it is a result, with the time that it took; figures are kept for a while."""
    clock = Clock()
    with closing(open_database(tmp_path)) as database:
        engine = EmbeddedEngine(database, full_marks, workers=tmp_path / "workers")
        metrics = Metrics(Condition(database, engine), tmp_path / "workers", clock)
        before = read(metrics)
        hand_in(database, engine, "s1")
        kept = read(metrics)
        clock.now += KEPT_SECONDS
        waiting = read(metrics)
        engine.run({"cpu": 1})
        until(lambda: is_graded(database, "s1"), "it is graded")
        until(lambda: not any(worker.held for worker in engine._running), "nothing is being graded")
        clock.now += KEPT_SECONDS
        graded = read(metrics)
        engine.drain(5.0)

    assert before == kept
    waits = [figures["attention_gym_waiting", "cpu"] for figures in (before, waiting, graded)]
    assert waits == [0, 1, 0]
    assert waiting["attention_gym_oldest_wait_seconds", "cpu"] > 0
    assert [figures["attention_gym_grading",] for figures in (waiting, graded)] == [0, 1]
    assert graded["attention_gym_workers",] == 1
    assert (before["attention_gym_verdicts_total", "graded"], graded["attention_gym_verdicts_total", "graded"]) == (
        0,
        1,
    )
    assert graded["attention_gym_wait_seconds_count",] == graded["attention_gym_wait_seconds_bucket", "+Inf"] == 1
    assert graded["attention_gym_wait_seconds_sum",] > 0
    assert graded["attention_gym_repeated_tries_total",] == 0
    assert graded["attention_gym_open_faults", "broken"] == graded["attention_gym_running", "cuda"] == 0
    (versions,) = (key for key in graded if key[0] == "attention_gym_version_info")
    assert all(versions)
    assert len(versions) == 4


def test_without_a_database_there_are_no_figures(tmp_path: Path) -> None:
    """The page answers 503 then; a zero would be a lie."""
    with closing(Database(f"sqlite:///{tmp_path}")) as broken:
        engine = EmbeddedEngine(broken, full_marks, workers=tmp_path / "workers")
        with pytest.raises(StoreUnavailable):
            Metrics(Condition(broken, engine), tmp_path).text()
