"""A file that cannot be played: one line that names the line, exit 2, and nothing is stored."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.cli.main import main
from grader.service.classes.replay import BadEvents, TermClock, play, read_events
from grader.settings import Settings
from grader.store import migrate
from grader.store.engine import Database
from tests.service.classes.school import ASSIGNMENT, SETTING_UP, School, seconds

FIRST = {"at": "2026-09-01T08:00:00Z", "do": "version", "by": "admin", "exercise": "softmax", "version": "1"}
CHANGE = {"do": "member", "person": "a@x.edu", "act": "leave"}
LATER = {"at": "2026-09-01T10:00:00+02:00", "by": "iris@x.edu", "class": "A"}


def _line(do: str, **fields: Any) -> str:
    return json.dumps({**LATER, "do": do, **fields})


def _without(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


ASSIGN = {"assignment": "A-1", **ASSIGNMENT}
BAD = {
    "no JSON": "{",
    "a word": "hello",
    "a list": "[]",
    "a number": "5",
    "null": "null",
    "NaN": _line("override", person="a@x.edu", assignment="A-1", points=float("nan"), reason="r"),
    "infinity": '{"at": "2026-09-01T10:00:00Z", "do": "grades", "by": "a", "class": "A", "x": -Infinity}',
    "two objects": _line("grades") + _line("grades"),
    "a nest": "[" * 100_000,
    "unknown do": _line("grade"),
    "do of another kind": json.dumps({**LATER, "do": ["grades"]}),
    "no do": json.dumps(LATER),
    "no by": json.dumps({"at": LATER["at"], "do": "grades", "class": "A"}),
    "by of another kind": json.dumps({**LATER, "by": 5, "do": "grades"}),
    "no at": json.dumps({"by": "a", "do": "grades", "class": "A"}),
    "at is a number": json.dumps({**LATER, "at": 1789905600, "do": "grades"}),
    "no offset": json.dumps({**LATER, "at": "2026-09-01T10:00:00", "do": "grades"}),
    "only a date": json.dumps({**LATER, "at": "2026-09-01", "do": "grades"}),
    "no time": json.dumps({**LATER, "at": "tomorrow", "do": "grades"}),
    "no such day": json.dumps({**LATER, "at": "2026-02-30T10:00:00Z", "do": "grades"}),
    "a year without days after it": json.dumps({**LATER, "at": "9999-12-31T23:59:59-14:00", "do": "grades"}),
    "a year before all clocks": json.dumps({**LATER, "at": "0001-01-01T00:00:00+14:00", "do": "grades"}),
    "earlier": json.dumps({**LATER, "at": "2026-09-01T09:59:59.999+02:00", "do": "grades"}),
    "no class": json.dumps({"at": LATER["at"], "by": "a", "do": "grades"}),
    "unknown field": _line("grades", colour="red"),
    "a field of another event": _line("grades", person="a@x.edu"),
    "a missing field": _line("member"),
    "without what is due": _line("assign", **_without("due", ASSIGN)),
    "without items": _line("assign", **_without("items", ASSIGN)),
    "unknown in late": _line("assign", **{**ASSIGN, "late": {"grace": 5}}),
    "unknown in set": _line("assign_change", assignment="A-1", set={"colour": "red"}),
    "unknown in late of set": _line("assign_change", assignment="A-1", set={"late": {"days": 5}}),
    "unknown in set of a class": _line("class_change", set={"title": "A"}),
    "no set": _line("class_change"),
    "unknown in change": _line("whatif", change={**CHANGE, "colour": "red"}),
    "missing in change": _line("whatif", change={"do": "member"}),
    "a class in change": _line("whatif", change={**CHANGE, "class": "B"}),
    "by in change": _line("whatif", change={**CHANGE, "by": "admin"}),
    "at in change": _line("whatif", change={**CHANGE, "at": "2026-09-01T10:00:00Z"}),
    "unknown in set of change": _line("whatif", change={"do": "class_change", "set": {"colour": "red"}}),
    "unknown in late of change": _line(
        "whatif", change={"do": "assign_change", "assignment": "A", "set": {"late": {"x": 1}}}
    ),
    "what is not asked in advance": _line("whatif", change={"do": "delete", "person": "a@x.edu"}),
    "no do in change": _line("whatif", change=_without("do", CHANGE)),
    "a change of another kind": _line("whatif", change="member"),
    "a hand-in without result": _line("hand_in", person="a@x.edu", exercise="softmax", id="h1"),
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return tmp_path / "data"


@pytest.mark.parametrize("wrong", BAD)
def test_a_line_that_cannot_be_played_is_named(wrong: str) -> None:
    content = "\n".join([json.dumps(FIRST), "", BAD[wrong], "{"])
    with pytest.raises(BadEvents, match=r"^line 3: [^\n]+$"):
        read_events(content.encode(), Path())


def test_bytes_that_are_no_text_are_named_by_their_line() -> None:
    with pytest.raises(BadEvents, match=r"^line 2: no UTF-8$"):
        read_events(json.dumps(FIRST).encode() + b"\n\xff\n", Path())


def test_a_bad_file_ends_with_2_and_one_line_and_stores_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events").write_text(json.dumps(FIRST) + "\n" + BAD["unknown in set"] + "\n")
    assert main(["class", "replay", str(tmp_path / "events"), "--json"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n"), "line 2: " in said.err) == ("", 1, True)
    with closing(Database(Settings(data=data).store_url)) as database:
        migrate.upgrade(database)
        stored = School(database).rows()
    assert (stored["given_versions"], stored["users"], stored["submissions"]) == ([], [], [])


def test_a_term_is_played_only_where_nobody_is_yet(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"at": f"{at}:00Z", "do": do, "by": by, **fields} for at, by, do, fields in SETTING_UP]
    (tmp_path / "events").write_text("\n".join(json.dumps(one) for one in lines))
    assert main(["class", "replay", str(tmp_path / "events"), "--json"]) == 0
    answers = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [(one["n"], one["do"], one["ok"]) for one in answers] == [
        (number, one["do"], True) for number, one in enumerate(lines, start=1)
    ]
    with closing(Database(Settings(data=data).store_url)) as database:
        before = School(database).rows()
        assert main(["class", "replay", str(tmp_path / "events")]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        assert School(database).rows() == before


def test_a_missing_file_is_told_in_one_line(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["class", "replay", str(data / "none")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_times_of_any_offset_and_precision_are_taken() -> None:
    times = [
        "2026-09-01T08:00:00Z", "2026-09-01T10:00:00+02:00", "2026-09-01T08:00:00.000z",
        "2026-09-01T04:00:00.001-04:00", "2026-09-01T13:45:00.0019+05:45",
    ]  # fmt: skip
    read = read_events("\r\n".join(json.dumps({**FIRST, "at": at}) for at in times).encode("utf-8-sig"), Path())
    assert [round(1000 * (one.at - seconds("2026-09-01T08:00"))) for one in read] == [0, 0, 0, 1, 2]


def test_numbers_in_json_keep_their_decimals_and_absurd_ones_are_refused(school: School) -> None:
    given = {**LATER, "do": "override", "person": "ada@x.edu", "assignment": "A-1", "reason": "r"}
    texts = ["4.35", "1e0", "4.350", "5.005", "1e400", "1e999999999", "9" * 5000, "-1", "true", '"4.35"']
    lines = [json.dumps({**given, "points": "?"}).replace('"?"', text) for text in texts]
    answers = list(play(school.database, read_events("\n".join(lines).encode(), Path()), TermClock()))
    assert ["ok" if one["ok"] else one["code"] for one in answers] == ["ok"] * 3 + ["bad_value"] * 6 + ["ok"]
