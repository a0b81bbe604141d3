"""Random terms through the service: each answer is that of a second implementation, wherever the term is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.cli.main import main
from grader.service.classes.replay import TermClock, TimedEvent, play
from grader.settings import Settings
from grader.store import audit, classes, migrate
from grader.store.audit import AuditLine
from grader.store.engine import Database
from tests.jobs import postgres
from tests.service.classes.school import SETTING_UP, School, events, seconds
from tests.service.classes.terms import differences, random_term

REASON = {"reason": "asked"}
MOVED_WITHIN = 11  # the seed of the term that is played here and there
# What a random term has not: a regrade that is open during the move, a deletion, staff, questions of staff.
AFTERWARDS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("2026-09-20T09:00", "iris@x.edu", "apply", {"class": "A", "change": "c1"}),
    ("2026-09-20T09:00", "iris@x.edu", "apply", {"class": "A", "change": "c1"}),
    ("2026-09-20T10:00", "iris@x.edu", "override", {
        "class": "A", "person": "ben@x.edu", "assignment": "A-1", "points": "6", "revision": 0, **REASON}),
    ("2026-09-20T10:00", "iris@x.edu", "override", {
        "class": "A", "person": "ben@x.edu", "assignment": "A-1", "points": "6", "revision": 1, **REASON}),
    ("2026-09-20T11:00", "iris@x.edu", "import", {
        "class": "A", "csv": "email,name,section\nada@x.edu,Ada,A1\nnew@x.edu,Zoë,A2\n", "confirm": 2}),
    ("2026-09-20T11:00", "iris@x.edu", "import", {"class": "A", "csv": "email,name,section\nx,X,A1\n"}),
    ("2026-09-20T12:00", "new@x.edu", "hand_in", {
        "class": "A", "person": "new@x.edu", "assignment": "A-1", "exercise": "softmax", "id": "h3", "score": 1}),
    ("2026-09-20T12:00", "bo@x.edu", "assign_change", {
        "class": "B", "assignment": "B-1", "set": {"section_due": {}, "title": "Fläche"}, "revision": 1}),
    ("2026-09-20T13:00", "bea@x.edu", "delete", {"person": "bea@x.edu"}),
    ("2026-09-20T13:00", "bo@x.edu", "import", {"class": "B", "csv": "email,name\nbea@x.edu,Bea\n"}),
    ("2026-09-20T14:00", "iris@x.edu", "regrade", {"class": "A", "exercise": "softmax", "change": "c2", **REASON}),
    ("2026-09-20T15:00", "two@x.edu", "grades", {"class": "A"}),
    ("2026-09-20T15:00", "iris@x.edu", "grades", {"class": "A"}),
    ("2026-09-20T15:00", "bo@x.edu", "grades", {"class": "B"}),
)  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.served() as url:
        yield url


@pytest.fixture
def to(server: str, request: pytest.FixtureRequest) -> str:
    return postgres.make_database(server, request.node.name[:60])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "secret").write_text("ab" * 32)
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(folder))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return folder


def _played(url: str, rows: list[TimedEvent]) -> list[Any]:
    with closing(Database(url)) as database:
        migrate.upgrade(database)
        return [json.loads(json.dumps({**one, "n": 0})) for one in play(database, rows, TermClock())]


def _audit(url: str) -> dict[str, list[AuditLine]]:
    with closing(Database(url)) as database, database.read() as session:
        return {one.key: audit.lines(session, one.id) for one in classes.every_class(session)}


def _is_sound(seed: int, url: str) -> None:
    term = random_term(seed)
    with closing(Database(url)) as database:
        migrate.upgrade(database)
        assert differences(play(database, term.events, TermClock()), term) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(40))
def test_a_random_term_is_answered_as_by_a_second_implementation(seed: int, tmp_path: Path) -> None:
    _is_sound(seed, f"sqlite:///{tmp_path / 'term.sqlite3'}")


@pytest.mark.parametrize("seed", [10, 12, 13, 14])
def test_a_random_term_is_answered_so_on_postgres(seed: int, to: str) -> None:
    _is_sound(seed, to)


def test_a_random_term_goes_on_after_a_move_to_postgres(
    data: Path, to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    term, here = random_term(MOVED_WITHIN), Settings(data=data).store_url
    half = len(term.events) // 2
    answers = _played(here, term.events[:half])
    assert main(["move", "--to", to]) == 0, capsys.readouterr().err
    answers += _played(to, term.events[half:])
    assert differences(iter(answers), term) == []


def test_answers_and_audit_are_the_same_on_sqlite_on_postgres_and_across_a_move(
    data: Path, to: str, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = events(SETTING_UP), events(AFTERWARDS)
    alone, there = f"sqlite:///{tmp_path / 'alone.sqlite3'}", postgres.make_database(server, "there")
    expected = _played(alone, first + second)
    refused = [one["code"] for one in expected if not one["ok"]]
    assert refused == ["not_open_change", "stale", "bad_rows"]
    assert _played(there, first + second) == expected
    moved = _played(Settings(data=data).store_url, first)
    assert main(["move", "--to", to]) == 0, capsys.readouterr().err
    moved += _played(to, second)
    assert moved == expected
    assert _audit(alone) == _audit(there) == _audit(to)


def test_whoever_only_asks_needs_no_right_to_write_on_postgres(to: str) -> None:
    """Questions run in transactions that read, where no row can be locked."""
    with closing(Database(to)) as database:
        migrate.upgrade(database)
        school = School(database, seconds("2026-09-20T12:00"))
        school.set_up()
        for do, fields in (
            ("grades", {}), ("own", {"person": "ada@x.edu"}), ("agenda", {"person": "ada@x.edu"}),
            ("deadline", {"person": "ada@x.edu", "assignment": "A-1"}),
            ("board", {"assignment": "A-1", "exercise": "softmax"}),
        ):  # fmt: skip
            assert school.code("iris@x.edu", do, class_="A", **fields) == "ok", do


def test_whatever_a_text_holds_is_answered_alike_on_postgres(to: str, school: School) -> None:
    """A zero and a half of a character, and texts longer than any column."""
    with closing(Database(to)) as database:
        migrate.upgrade(database)
        there = School(database)
        there.set_up()
        for odd in ("a\0b", "a\ud800b", "x" * 100_000, "\u202eada@x.edu\u202c", "ada@x.edu\0", "' OR 1=1 --", "İ"):
            for do, fields in _with_text(odd):
                for by in ("iris@x.edu", odd):
                    here = school.ask(by, do, **fields)
                    assert there.ask(by, do, **fields) == here, (do, odd[:20], by[:20])


def _with_text(odd: str) -> list[tuple[str, dict[str, Any]]]:
    a = {"class_": "A"}
    roster = f"email,name,section,number,lms_id\nada@x.edu,{odd},A1,{odd},{odd}\nodd@x.edu,Odd,A1,{odd}2,\n"
    return [
        ("own", {"class_": odd, "person": "ada@x.edu"}),
        ("own", {**a, "person": odd}),
        ("deadline", {**a, "person": "ada@x.edu", "assignment": odd}),
        ("board", {**a, "assignment": "A-1", "exercise": odd}),
        ("apply", {**a, "change": odd}),
        ("aside", {"person": "ada@x.edu", "id": odd}),
        ("override", {**a, "person": "ada@x.edu", "assignment": "A-1", "points": 1, "reason": odd}),
        ("override", {**a, "person": odd, "assignment": "A-1", "points": 1, "reason": odd, "revision": 99}),
        ("regrade", {**a, "exercise": odd, "change": "c3", "reason": "asked"}),
        ("staff", {**a, "person": odd, "name": "Odd", "role": "assistant"}),
        ("member", {**a, "person": "ada@x.edu", "section": odd}),
        ("import", {**a, "csv": roster, "confirm": 2}),
        ("import", {**a, "csv": odd, "reason": odd}),
    ]
