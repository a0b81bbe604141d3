"""The commands of a class, on a small term: what they write, for people and for programs, and what ends them."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from grader.cli.main import main
from grader.exercise.catalog import ROOT
from grader.rules.roster import LARGEST_FILE
from grader.service.classes.answers import Classes
from grader.service.classes.requests import ClassRefusal
from grader.settings import Settings
from grader.store.engine import Database
from tests.exports.importers import read_by_canvas
from tests.jobs import postgres

Run = Callable[..., "Ended"]
FORMULA = '=HYPERLINK("http://x","Kim")'
ROSTER = [
    ("email", "name", "section", "number", "lms_id", "Phone"),
    ("ada@uni.example", "Ada", "N1", "0042", "901", "1"),
    ("ben@uni.example", "Иванов (Ivanov)", "N2", "", "", "2"),
    ("kim@uni.example", FORMULA, "N1", "", "903", "3"),
    ("moe@uni.example", "Moe", "N2", "", "", "4"),
]
END = "2026-12-12T12:00:00-05:00"
MINUTE_THAT_IS_SKIPPED = "2027-03-14T02:30"  # in New York


class Ended:
    """How a command ended: its code, and what it wrote."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def lines(self) -> list[Any]:
        """What it wrote as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


def _csv(rows: list[tuple[str, ...]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def _term() -> Iterator[dict[str, Any]]:
    """Yield the events of a term: four students, two assignments, late days, an override, an excuse."""
    late = {"per_day": 0.1, "of": "earned", "bank_max": 1, "cutoff": 2}

    def event(at: str, do: str, by: str = "iris@uni.example", **fields: Any) -> dict[str, Any]:
        named = {} if do == "aside" else {"class": "N"}
        return {"at": f"2026-{at}:00-04:00", "do": do, "by": by, **named, **fields}

    def work(at: str, who: str, number: int, assignment: str, score: float) -> dict[str, Any]:
        person = f"{who}@uni.example"
        exercise = "softmax" if assignment == "N-1" else "sdpa"
        given = {"person": person, "assignment": assignment, "exercise": exercise, "id": f"h{number}", "score": score}
        return event(at, "hand_in", person, **given)

    yield event("09-01T09:00", "class", "admin", name="Night", zone="America/New_York", bank=2, sections=["N1", "N2"])
    yield event("09-01T09:01", "staff", "admin", person="iris@uni.example", name="Iris", role="instructor")
    yield event("09-02T09:00", "import", csv=_csv(ROSTER))
    dates = {"opens": "2026-09-14T00:00", "due": "2026-09-25T23:59", "section_due": {"N2": "2026-09-26T23:59"}}
    yield event("09-02T10:00", "assign", assignment="N-1", items={"softmax": 10}, title="First", late=late, **dates)
    dates = {"opens": "2026-10-01T00:00", "due": "2026-11-13T02:30"}
    yield event("09-02T10:01", "assign", assignment="N-2", items={"sdpa": 20}, show="after_publication", **dates)
    yield work("09-20T12:00", "ada", 1, "N-1", 85.5)
    yield work("09-27T12:00", "ben", 2, "N-1", 100)
    yield work("09-27T12:00", "kim", 3, "N-1", 100)
    yield work("10-05T12:00", "ada", 4, "N-2", 97.5)
    yield work("10-05T13:00", "ben", 5, "N-2", 97.5)
    override = {"person": "ben@uni.example", "assignment": "N-2", "points": 18.25, "reason": "argued well"}
    yield event("11-20T12:00", "override", **override)
    excuse = {"person": "kim@uni.example", "assignment": "N-2", "field": "excused", "value": True, "reason": "ill"}
    yield event("11-20T12:01", "except", **excuse)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder in which the term was played."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, _term())))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTENTION_GYM_DATA", str(folder / "data"))
        assert main(["class", "replay", str(folder / "events.jsonl")]) == 0
    return folder / "data"


@pytest.fixture
def run(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:  # fmt: skip
    """Return what runs a command of a class on a copy of that folder."""
    shutil.copytree(played, tmp_path / "data")
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    def run(*words: str) -> Ended:
        code = main(["class", *words])
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return run


def _file(name: str, content: object) -> str:
    Path(name).write_text(json.dumps(content), encoding="utf-8")
    return name


def _people(ended: Ended) -> dict[str, Any]:
    return {one["person"].partition("@")[0]: one for one in ended.lines[0]["people"]}


def test_the_gradebook_is_one_line_of_json_and_a_table_for_people(run: Run) -> None:
    """With everything stored, as it is at that time; `*` marks an override, and no two states look alike."""
    found = _people(run("grades", "N", "--at", END, "--json"))
    ends = {who: [cell["points"] for cell in one["cells"].values()] for who, one in found.items()}

    assert ends == {
        "ada": ["8.55", "19.50"], "ben": ["10.00", "18.25"], "kim": ["9.00", None], "moe": ["0.00", "0.00"]
    }  # fmt: skip
    assert [found[who]["bank"]["left"] for who in ends] == [2, 1, 1, 2]
    table = run("grades", "N", "--at", END).out.splitlines()
    assert table[0].split() == ["person", "name", "section", "N-1", "N-2", "total", "of", "percent", "late", "days"]
    assert table[2].split()[4:] == ["10.00", "18.25*", "28.25", "30.00", "94.17", "1", "of", "2"]
    assert "  excused  " in table[3]
    assert table[4].split()[3:7] == ["0.00", "missing", "0.00", "missing"]


def test_an_earlier_time_shows_what_is_not_due_yet(run: Run) -> None:
    """Moe has nothing missing then."""
    early = _people(run("grades", "N", "--at", "2026-09-20T12:00:00-04:00", "--json"))

    assert [cell["state"] for cell in early["moe"]["cells"].values()] == ["blank", "blank"]


def test_a_student_sees_no_hidden_result(run: Run) -> None:
    """As the student means: the second assignment is not published, and neither total nor bank tells of it."""
    (own,) = run("grades", "N", "--as", "ADA@uni.example", "--at", END, "--json").lines
    nobody = run("grades", "N", "--as", "nobody@uni.example")

    assert own["own"]["cells"]["N-2"]["state"] == "hidden"
    assert (own["own"]["total"], own["own"]["possible"]) == ("8.55", "10.00")
    assert (nobody.code, nobody.out, nobody.err.count("\n")) == (2, "", 1)


def test_classes_are_made_and_listed(run: Run) -> None:
    """With zone, bank and sections; a key that is taken and a zone that is none are refused in one line."""
    made = run("create", "M", "--name", "Matin", "--zone", "Europe/Berlin", "--bank", "3", "--section", "a")
    again, nowhere = run("create", "M", "--zone", "Europe/Berlin"), run("create", "O", "--zone", "Mars/Base")

    assert made.code == 0
    assert (again.code, again.err) == (2, "There is a class 'M' already.\n")
    assert (nowhere.code, nowhere.err.count("`Mars/Base` is no time zone")) == (2, 1)
    found = {one["class"]: one for one in run("list", "--json").lines}
    assert found["M"] == {
        "class": "M", "name": "Matin", "zone": "Europe/Berlin", "bank": 3, "sections": ["a"], "students": 0
    }  # fmt: skip
    assert found["N"]["students"] == 4
    assert "Mars" not in run("list").out


def test_a_copy_keeps_weekdays_and_wall_times(run: Run) -> None:
    """17 weeks later the clock skips 02:30 in New York, so it is 03:30; nobody is in it, and nothing is granted."""
    (made,) = run("copy", "N", "N27", "--weeks", "17", "--json").lines

    assert made["assignments"] == [
        {"assignment": "N-1", "opens": "2027-01-11T00:00", "due": "2027-01-22T23:59"},
        {"assignment": "N-2", "opens": "2027-01-28T00:00", "due": "2027-03-12T02:30"},
    ]
    assert [one["students"] for one in run("list", "--json").lines if one["class"] == "N27"] == [0]
    (line,) = run("audit", "N27", "--json").lines
    assert (line["do"], line["by"], line["after"]["from"]) == ("copy", "admin", "N")
    assert run("grades", "N27", "--json").lines[0]["people"] == []
    assert run("copy", "N", "N27", "--weeks", "1").err == "There is a class 'N27' already.\n"
    assert run("copy", "N", "N28", "--weeks", "521").code == 2


def test_a_copied_minute_that_the_clock_skips_becomes_the_one_after_the_gap(run: Run) -> None:
    """Due on a Sunday at 02:30, and the same Sunday of the next year has no such minute."""
    change = {"assignment": "N-2", "due": "2026-11-15T02:30", "section_due": {"N2": "2026-11-22T02:30"}}
    assert run("assign", "N", _file("c.json", change), "--apply").code == 0

    (made,) = run("copy", "N", "N27", "--weeks", "17", "--json").lines

    assert made["assignments"][1]["due"] == MINUTE_THAT_IS_SKIPPED.replace("02:", "03:")
    (copied,) = run("assign", "N27", _file("t.json", {"assignment": "N-2", "title": "T"}), "--json").lines
    assert copied["assignments"] == [{"assignment": "N-2", "new": False, "revision": 2}]


def test_a_roster_is_previewed_and_then_applied(run: Run) -> None:
    """One moves, one is new, one leaves: more than a twentieth, so their number is to be confirmed."""
    rows = [
        *ROSTER[:2],
        ("ben@uni.example", "Ben", "N1", "", "", ""),
        ROSTER[3],
        ("zoe@x.org", "Zoe", "N1", "", "", ""),
    ]
    Path("r.csv").write_text(_csv(rows), encoding="utf-8")
    counts = {"new": 1, "back": 0, "moved": 1, "renamed": 0, "left": 1, "unchanged": 2}

    assert run("import", "N", "r.csv", "--json").lines == [counts]
    assert "nothing is stored" in run("import", "N", "r.csv").out
    refused = run("import", "N", "r.csv", "--apply")
    assert (refused.code, "1 of 4 students are not in this file" in refused.err) == (2, True)
    assert [*_people(run("grades", "N", "--json"))] == ["ada", "ben", "kim", "moe"]
    assert run("import", "N", "r.csv", "--apply", "--confirm", "1", "--json").lines == [counts]
    assert [*_people(run("grades", "N", "--json"))] == ["ada", "ben", "kim", "zoe"]


def test_every_wrong_row_is_told_in_one_line(run: Run) -> None:
    """And as JSON with its code; nothing of the file is stored."""
    Path("r.csv").write_text("email,name,section\nzoe@x.org,Zoe,N1\nbo@,Bo,N1\nZOE@x.org,Zoe,N9\n")
    told, coded = run("import", "N", "r.csv", "--apply"), run("import", "N", "r.csv", "--apply", "--json")

    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert "line 3: bad_email; line 4: duplicate_email" in told.err
    assert coded.lines[0]["errors"] == [{"line": 3, "code": "bad_email"}, {"line": 4, "code": "duplicate_email"}]
    assert coded.err == told.err
    assert "zoe" not in _people(run("grades", "N", "--json"))


def _xlsx(rows: list[tuple[object, ...]]) -> bytes:
    """Return a workbook of one sheet, with texts inline, as small as the format allows."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = [
            f'<c r="{chr(65 + place)}{number}"><v>{cell}</v></c>'
            if isinstance(cell, int | float)
            else f'<c r="{chr(65 + place)}{number}" t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'
            for place, cell in enumerate(row)
        ]
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    main_space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main_space}" xmlns:r="{office}"><sheets>'
        '<sheet name="Students" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main_space}"><sheetData>{"".join(lines)}</sheetData>'
        "</worksheet>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}')
    return file.getvalue()


def test_a_sheet_of_excel_is_read_like_a_csv(run: Run) -> None:
    """Numbers have no decimals, an empty row is passed over, and the lines of faults are those of the sheet."""
    rows = [*ROSTER, ("",) * 6, ("zoe@x.org", "Zoe & Co", "N1", 70112, "", 5.5)]
    Path("r.xlsx").write_bytes(_xlsx(rows))
    (counts,) = run("import", "N", "r.xlsx", "--apply", "--json").lines

    assert (counts["new"], counts["unchanged"], counts["left"]) == (1, 4, 0)
    assert "Zoe & Co,,70112,zoe@x.org,N1" in run("export", "N", "--format", "canvas").out
    Path("r.xlsx").write_bytes(_xlsx([*rows, ("bad", "Bad\nname", "N1"), ("bo@x.org", "Bo", "N9")]))
    assert run("import", "N", "r.xlsx", "--json").lines[0]["errors"] == [
        {"line": 8, "code": "bad_email"}, {"line": 9, "code": "unknown_section"}
    ]  # fmt: skip


def _bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(70_000_000))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PK\x03\x04 and then nothing", "no .xlsx that can be read"),
        (_xlsx(ROSTER)[:900], "no .xlsx that can be read"),
        (_bomb(), "70,000,000 bytes unpacked"),
        (b"email,name\n\0", "NUL"),
        (b"name,section\nAda,N1\n", "no column `email`"),
        (b"", "no column `email`"),
        (b"x" * (LARGEST_FILE + 1), "at most 4,000,000"),
    ],
    ids=["no archive", "cut archive", "bomb", "NUL", "no column", "empty", "huge"],
)
def test_a_file_that_is_no_roster_is_refused_in_one_line(run: Run, content: bytes, told: str) -> None:
    """Whatever it is instead."""
    Path("r.bin").write_bytes(content)
    ended = run("import", "N", "r.bin", "--apply")

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert told in ended.err


def test_assignments_are_made_and_changed_together_or_not_at_all(run: Run) -> None:
    """The preview stores nothing; of several none is stored if one is refused, and the line says which."""
    new = {"assignment": "N-3", "items": {"causal": 4.5}, "opens": "2026-12-01T00:00", "due": "2026-12-20T23:59"}
    both = [new, {"assignment": "N-1", "items": {"softmax": 5}}]
    (seen,) = run("assign", "N", _file("a.json", both), "--json").lines

    assert [(one["assignment"], one["new"]) for one in seen["assignments"]] == [("N-3", True), ("N-1", False)]
    halved = [(one["person"][:3], one["before"], one["after"]) for one in seen["cells"] if one["assignment"] == "N-1"]
    assert halved == [("ada", "8.55", "4.28"), ("ben", "10.00", "5.00"), ("kim", "9.00", "4.50")]
    skipped = {"assignment": "N-4", "items": {"causal": 1}, "opens": "2027-01-01T00:00", "due": MINUTE_THAT_IS_SKIPPED}
    refused = run("assign", "N", _file("b.json", [*both, skipped]), "--apply", "--json")
    assert (refused.code, refused.lines[0]["code"], refused.lines[0]["instead"]) == (
        2, "no_such_time", "2027-03-14T03:30"
    )  # fmt: skip
    assert refused.err.startswith("N-4: ")
    assert [*_people(run("grades", "N", "--json"))["ada"]["cells"]] == ["N-1", "N-2"]
    assert run("assign", "N", "a.json", "--apply").code == 0
    cells = _people(run("grades", "N", "--json"))["ada"]["cells"]
    assert {key: cell["points"] for key, cell in cells.items()} == {"N-1": "4.28", "N-2": "19.50", "N-3": None}


def test_an_assignment_that_was_changed_meanwhile_is_not_overwritten(run: Run) -> None:
    """A file may name the revision that was seen."""
    change = _file("a.json", {"assignment": "N-1", "title": "Other", "revision": 1})

    assert run("assign", "N", change, "--apply").code == 0
    stale = run("assign", "N", change, "--apply", "--json")
    assert (stale.code, stale.lines[0]["code"], stale.lines[0]["revision"]) == (2, "stale", 2)


def test_a_what_if_stores_nothing(run: Run) -> None:
    """An extension for Kim gives back the day of the bank and the points; an unknown `do` is refused."""
    change = {
        "do": "except", "person": "kim@uni.example", "assignment": "N-1", "field": "due", "value": "2026-09-27T23:59",
        "reason": "ill",
    }  # fmt: skip
    before = run("grades", "N", "--json", "--at", END).out
    (seen,) = run("whatif", "N", _file("w.json", change), "--json").lines

    assert seen["cells"] == [
        {"person": "kim@uni.example", "assignment": "N-1", "before": "9.00", "after": "10.00", "held": False}
    ]
    assert seen["banks"] == [{"person": "kim@uni.example", "before": 1, "after": 2}]
    assert run("grades", "N", "--json", "--at", END).out == before
    assert "9.00    10.00" in run("whatif", "N", "w.json").out
    wrong = run("whatif", "N", _file("w.json", {**change, "do": "publish"}))
    assert (wrong.code, "`do` is one of" in wrong.err) == (2, True)
    refused = run("whatif", "N", _file("w.json", {**change, "reason": ""}), "--json")
    assert (refused.code, refused.lines[0]["code"]) == (2, "no_reason")


def test_a_board_and_the_audit_are_lists(run: Run) -> None:
    """Ranks by score, then attempts, then time; and who did what, in the order of time."""
    (found,) = run("board", "N", "N-1", "softmax", "--json").lines

    assert [(one["rank"], one["person"][:3], one["score"]) for one in found["rows"]] == [
        (1, "ben", "100.00"), (1, "kim", "100.00"), (3, "ada", "85.50")
    ]  # fmt: skip
    assert run("board", "N", "N-1", "sdpa").code == 2
    lines = run("audit", "N", "--json").lines
    assert [one["do"] for one in lines] == ["class", "staff", "import", "assign", "assign", "override", "except"]
    assert lines[5] == {
        "at": "2026-11-20T16:00:00.000Z", "by": "iris@uni.example", "do": "override", "ok": True,
        "subject": "ben@uni.example N-2", "before": None, "after": "18.25", "reason": "argued well",
    }  # fmt: skip
    assert "argued well" in run("audit", "N").out


def test_exports_of_a_class_are_what_the_platforms_take(run: Run) -> None:
    """Canvas, Moodle, a spreadsheet and JSON, on standard output or in a file, which is the same to the byte."""
    canvas = run("export", "N", "--format", "canvas", "--at", END).out
    possible, grades = read_by_canvas(canvas)

    assert {name: str(points) for name, points in possible.items()} == {"First": "10.00", "N-2": "20.00"}
    assert {who: [str(one) for one in cells.values()] for who, cells in grades.items()} == {
        "901": ["8.55", "19.50"], "ben@uni.example": ["10.00", "18.25"], "903": ["9.00", "EX"],
        "moe@uni.example": ["None", "None"],
    }  # fmt: skip
    zeros = run("export", "N", "--format", "canvas", "--at", END, "--missing-as-zero").out
    assert zeros.splitlines()[-1] == "Moe,,,moe@uni.example,N2,0.00,0.00"
    assert run("export", "N", "--format", "moodle", "--at", END).out.splitlines()[-1] == "moe@uni.example,,0.00,0.00"
    assert run("export", "N", "--format", "json", "--at", END).out == run("grades", "N", "--at", END, "--json").out
    table = run("export", "N", "--format", "csv", "--at", END).out
    assert "Иванов (Ivanov)" in table
    assert "\"'=HYPERLINK(" in table
    assert run("export", "N", "--format", "csv", "--at", END, "--out", "g.csv").out == "wrote g.csv\n"
    assert Path("g.csv").read_bytes() == table.encode()


def test_an_attempt_is_exported_and_nobody_elses(run: Run) -> None:
    """Of the class and of its present members only; a file that cannot be written is told in one line."""
    score = json.loads(run("export", "N", "--format", "gradescope", "--attempt", "h1").out)["score"]
    junit = run("export", "N", "--format", "junit", "--attempt", "h1").out

    assert score == 85.5
    assert '<property name="score" value="85.50" />' in junit
    Path("r.csv").write_text(_csv([*ROSTER[:1], *ROSTER[2:]]), encoding="utf-8")
    run("import", "N", "r.csv", "--apply", "--confirm", "1")
    assert run("create", "M", "--zone", "UTC").code == 0
    for words in (
        ("N", "--format", "junit", "--attempt", "h1"),  # Ada has left
        ("M", "--format", "junit", "--attempt", "h2"),
        ("N", "--format", "junit", "--attempt", "nothing"),
        ("N", "--format", "junit"),
        ("N", "--format", "csv", "--attempt", "h2"),
        ("N", "--format", "pdf"),
        ("Z", "--format", "csv"),
        ("N", "--format", "csv", "--out", "no/folder.csv"),
        ("N", "--format", "csv", "--at", "2026-12-12T12:00"),
    ):
        ended = run("export", *words)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("grades", "Z"), "There is no such class"),
        (("grades", "N", "--at", "yesterday"), "--at: `at` is 'yesterday'"),
        (("assign", "N", "missing.json"), "there is no file"),
        (("assign", "N", "."), "no ordinary file"),
        (("assign", "N", "text"), "no JSON"),
        (("assign", "N", "number"), "an object with the fields of an assignment"),
        (("whatif", "N", "number"), "`change` is an object"),
        (("grades",), "CLASS"),
        (("export", "N"), "--format"),
    ],
)
def test_what_is_asked_for_wrongly_gets_one_line_and_code_2(run: Run, words: tuple[str, ...], told: str) -> None:
    """Nothing is on standard output."""
    Path("text").write_text("{no json")
    Path("number").write_text("7")
    ended = run(*words)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert told in ended.err


def test_a_command_without_a_service_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made by asking."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "none"))

    assert main(["class", "list"]) == 2
    assert not (tmp_path / "none").exists()


def test_other_commands_bring_neither_the_store_nor_torch() -> None:
    """The commands of a class are there with their help, and load what they need when they run."""
    program = "import sys, grader.cli.class_; print([name for name in ('torch', 'sqlalchemy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_questions_and_changes_are_answered_on_postgres(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A transaction that only reads takes no lock there; every command gives what it gives on SQLite."""
    Path(tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, _term())))
    Path(tmp_path / "r.csv").write_text(_csv(ROSTER), encoding="utf-8")
    questions = (
        ("grades", "N", "--at", END, "--json"),
        ("grades", "N", "--at", END, "--as", "ben@uni.example", "--json"),
        ("export", "N", "--at", END, "--format", "canvas"),
        ("export", "N", "--format", "junit", "--attempt", "h2"),
        ("board", "N", "N-1", "softmax", "--json"),
        ("import", "N", str(tmp_path / "r.csv"), "--json"),
        ("copy", "N", "N27", "--weeks", "52", "--json"),
        ("list", "--json"),
    )
    said: list[list[str]] = []
    with postgres.running() as server:
        for name, url in (("sqlite", ""), ("postgres", postgres.make_database(server.url, "term"))):
            monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / name))
            monkeypatch.setenv("DATABASE_URL", url)
            assert main(["class", "replay", str(tmp_path / "events.jsonl")]) == 0
            capsys.readouterr()
            assert [main(["class", *words]) for words in questions] == [0] * len(questions), capsys.readouterr().err
            said.append(capsys.readouterr().out.splitlines())

    assert said[0] == said[1]
    assert len(said[0]) > len(questions)


@pytest.mark.parametrize(
    ("do", "fields"),
    [
        ("export", {"class": "N", "format": "csv"}),
        ("export", {"class": "N", "format": "junit", "attempt": "h1"}),
        ("audit", {"class": "N"}),
        ("copy", {"class": "N", "to": "O", "weeks": 1}),
        ("assign_all", {"class": "N", "assignments": [{"assignment": "N-1", "title": "x"}], "dry_run": True}),
        ("classes", {}),
    ],
)
def test_who_may_ask_for_what_only_the_commands_ask(run: Run, do: str, fields: dict[str, Any]) -> None:
    """A student is not allowed to, an outsider learns nothing of the class; an instructor may what is of one class."""
    assert run("create", "M", "--zone", "UTC").code == 0
    with closing(Database(Settings(data=Path("data")).store_url)) as database:
        asked = Classes(database, clock=lambda: 1_800_000_000.0)
        asked.do("admin", "staff", {"class": "M", "person": "bo@x.org", "name": "Bo", "role": "instructor"})
        codes = {}
        for who in ("ada@uni.example", "bo@x.org", "iris@uni.example"):
            try:
                asked.do(who, do, fields)
                codes[who[:4]] = "done"
            except ClassRefusal as refusal:
                codes[who[:4]] = refusal.code

    of_all = do == "classes"
    assert codes == {
        "ada@": "not_allowed",
        "bo@x": "not_allowed" if of_all else "unknown",
        "iris": "not_allowed" if of_all else "done",
    }


def test_an_instructor_is_appointed_and_gets_a_link_for_a_password(run: Run) -> None:
    """From nothing to somebody who can sign in and teach; an assistant only for sections that there are."""
    made = run("staff", "N", "Iris.New@uni.example", "--name", "Iris")
    wrong = run("staff", "N", "tom@uni.example", "--role", "assistant", "--section", "none")
    (shown, *_) = [one for one in run("audit", "N", "--json").lines if one["subject"] == "iris.new@uni.example"]

    assert (made.code, "user reset Iris.New@uni.example" in made.out) == (0, True)
    assert (wrong.code, wrong.err) == (2, "The class has no section 'none'.\n")
    assert shown["after"] == {"role": "instructor", "sections": []}
    assert main(["user", "reset", "iris.new@uni.example"]) == 0
