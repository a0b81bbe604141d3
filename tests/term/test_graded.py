"""A whole term whose answers are graded: by the real queue, sandbox and judge, and answered as with given scores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from grader.box.run import Box
from grader.exercise.catalog import Catalog
from grader.judge.grade import grade
from grader.settings import Settings
from grader.store.engine import Database
from grader.store.records import Reason
from grader.store.tables import GradingRow
from tests.term import dial, events
from tests.term.events import Event

NAMED = {events.mail(who) for who in (*events.SECTION_1, *events.SECTION_2, "a001", "b001")}


def _of_the_named(term: list[Event]) -> list[Event]:
    """Return a term in which only those hand in who are there for a rule, and a filler of each class."""
    return [event for event in term if event["do"] != "hand_in" or event["person"] in NAMED]


def _played(folder: Path, term: list[Event], *options: str) -> list[dict[str, Any]]:
    """Play a term into an empty installation below `folder`; return its answers."""
    folder.mkdir()
    (folder / "term.jsonl").write_text(events.lines(term))
    done = subprocess.run(
        [sys.executable, "-m", "grader", "class", "replay", folder / "term.jsonl", "--json", *options],
        env={**os.environ, "ATTENTION_GYM_DATA": str(folder / "data"), "ATTENTION_GYM_ALLOW_ONE_WALL": "1"},
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _reasons(folder: Path) -> dict[str, int]:
    with closing(Database(Settings(data=folder / "data").store_url)) as database, database.read() as session:
        counted = session.execute(select(GradingRow.reason, func.count()).group_by(GradingRow.reason)).all()
    return {str(row[0]): int(row[1]) for row in counted}


@pytest.mark.parametrize(("part", "graded"), [(_of_the_named, 111), (list, 1302)], ids=["named", "whole"])
def test_a_term_is_graded_as_it_was_meant(tmp_path: Path, part: Any, graded: int) -> None:
    """Each answer is that to the term with given scores. One result is given; Quy's are deleted."""
    term = part(events.without_regrade(events.given()))
    sources = events.with_sources(term)

    answers = _played(tmp_path / "graded", sources, "--catalog", str(dial.write(tmp_path / "catalogue")))

    assert answers == _played(tmp_path / "given", term)
    assert _reasons(tmp_path / "graded") == {Reason.HAND_IN: graded, Reason.GIVEN: 1}
    codes = {answer["code"] for answer in answers if not answer["ok"]}
    assert codes == {"bad_rows", "closed", "no_attempts", "not_member", "stale"}
    assert {event["do"] for event in term} == {event["do"] for event in events.given()} - {*events.REGRADE}


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_dial_earns_what_its_answer_says(tmp_path: Path, box: Box, version: str) -> None:
    """Five points a step in either version, the first step with nothing halved."""
    exercise = Catalog.load(dial.write(tmp_path, version))["causal"]
    scores = range(0, 101, dial.POINTS)
    said = [dial.answer(score, 100 - score) for score in scores]

    earned = [grade(exercise, source.encode(), seed=3, box=box).score for source in said]

    assert earned == [float(score if version == "1" else 100 - score) for score in scores]
