"""What a class misunderstands, from the reports on what its students handed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.judge.report import Diagnosis, Location, Report
from grader.service.classes.requests import ClassRefusal
from tests.jobs.engines import on_sqlite
from tests.jobs.test_regrades_as_jobs import Room, hand_in, opened

SCALE = Diagnosis("no_scaling", "The scores are not scaled.", "", certain=True)
BEGINS = Location("scores", "The scores begin to differ.", "", None, "", ())


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with on_sqlite(tmp_path) as site, opened(site) as room:
        yield room


@pytest.fixture
def causes(room: Room, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Give what the reports on sources name, by the source."""
    found: dict[str, dict[str, Any]] = {}
    grade = type(room.marks).__call__

    def named(marks: Any, submission: Any, tracker: Any) -> Report:
        return replace(grade(marks, submission, tracker), **found.get(submission.source, {}))

    monkeypatch.setattr(type(room.marks), "__call__", named)
    return found


def _told(room: Room, **fields: Any) -> list[tuple[object, ...]]:
    return [
        (one["mistake"], one["students"], one["attempts"], one["mended"], one["took"],
         [each["person"] for each in one["stuck"]])
        for one in room.ask("mistakes", **fields)["mistakes"]
    ]  # fmt: skip


def test_mistakes_are_counted_by_student_and_by_attempt(room: Room, causes: dict[str, Any]) -> None:
    """A name, or else where the answer begins to differ; a later attempt that is free of it has mended it."""
    causes |= {"wrong": {"diagnosis": (SCALE,), "location": BEGINS}, "unnamed": {"location": BEGINS}}
    room.marks.worth |= dict.fromkeys(("wrong", "unnamed", "right"), 10.0)
    for name, sources in {"Ada": ("wrong", "wrong", "right"), "Ben": ("wrong",), "Cleo": ("unnamed",)}.items():
        for source in sources:
            hand_in(room.service, room.students[name], source)

    assert _told(room) == [
        (SCALE.title, 2, 3, 1, "2", ["ben"]),
        (BEGINS.title, 1, 1, 0, None, ["cleo"]),
    ]
    assert (
        _told(room, assignment="A-1")
        == _told(room, exercise="softmax")
        == _told(room, week="2026-09-14")
        == _told(room)
    )
    assert _told(room, exercise="sdpa") == _told(room, week="2026-09-21") == []


def test_who_has_left_is_not_counted(room: Room, causes: dict[str, Any]) -> None:
    causes["wrong"] = {"diagnosis": (SCALE,)}
    room.marks.worth["wrong"] = 10.0
    for name in ("Ada", "Ben"):
        hand_in(room.service, room.students[name], "wrong")
    room.service.classroom(room.boss).remove(room.students["Ada"].id)

    assert _told(room) == [(SCALE.title, 1, 1, 0, None, ["ben"])]


@pytest.mark.parametrize("fields", [{"assignment": "A-9"}, {"section": "Z"}])
def test_what_the_class_has_not_is_refused(room: Room, fields: dict[str, str]) -> None:
    with pytest.raises(ClassRefusal) as refused:
        room.ask("mistakes", **fields)
    assert refused.value.code == "unknown"


def test_a_week_that_is_no_date_is_refused(room: Room) -> None:
    with pytest.raises(ClassRefusal) as refused:
        room.ask("mistakes", week="next")
    assert refused.value.code == "bad_value"
