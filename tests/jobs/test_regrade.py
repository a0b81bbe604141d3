"""A submission that is graded once more, with the files and the seed that its score came from."""

from __future__ import annotations

import io
import itertools
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from grader import installation
from grader.box.run import Box
from grader.cli.main import main
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.grading_process import assemble
from grader.jobs import archive, regrade
from grader.jobs.grading import versions_of
from grader.jobs.regrade import CannotRegrade
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.settings import Settings
from grader.store import gradings, keys, people, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading
from grader.store.records import Role, State, Submission, SubmissionId
from grader.store.tables import GradingFilesRow
from tests.conftest import LentBox
from tests.jobs.classroom import open_database, until

SECRET = b"of this installation"
ANSWER = "import torch\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)\n"


@pytest.fixture
def graded(tmp_path: Path, box: Box) -> Iterator[tuple[Database, Catalog, SubmissionId]]:
    """Give a submission that was graded, and the exercise that graded it, in a folder that can be changed."""
    for name in ("exercises/softmax", "reference/softmax.py"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    catalog, database, id = Catalog.load(tmp_path), open_database(tmp_path), SubmissionId("s1")
    archive.keep(database, catalog, SECRET)
    exercise = catalog["softmax"]
    report = grade(exercise, ANSWER, seed=77, box=box)
    with database.write() as session:
        ada = people.add(session, "Ada", Role.STUDENT, key="ada", password="hash", now=1.0)
        draft = Submission(
            id=id, user=ada.id, exercise="softmax", exercise_version=exercise.version, raw=ANSWER.encode(), seed=77,
            device="cpu", created=2.0,
        )  # fmt: skip
        submissions.add(session, draft)
        gradings.store(session, id, Grading.of(report, versions_of(exercise), 3.0))
    yield database, catalog, id
    database.close()


def with_other_points(catalog: Catalog) -> Catalog:
    """Return the catalogue after an author has moved a point from the first check to the second."""
    exercise = catalog["softmax"]
    path = exercise.folder / "exercise.toml"
    change = iter((-1, 1))
    moved = re.sub(r"(?<=points = )\d+", lambda found: str(int(found[0]) + next(change)), path.read_text(), count=2)
    path.write_text(moved)
    return Catalog([read_exercise(exercise.folder, exercise.folder.parents[1])])


def with_file(content: bytes, name: str, text: bytes) -> bytes:
    """Return a zip of the grading files of `softmax` in which one file holds something else."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
        for member in old.namelist():
            new.writestr(member, text if member == f"exercises/softmax/{name}" else old.read(member))
    return changed.getvalue()


def test_the_same_files_give_the_same_digits(graded: tuple[Database, Catalog, SubmissionId], box: Box) -> None:
    """The score is not full, and each check has the points that it had."""
    database, _, id = graded
    found = regrade.regrade(database, box, id, secret=SECRET)

    assert (found.same, found.differences) == (True, ())
    assert 0.0 < found.before.score < 100.0


def test_a_changed_exercise_is_graded_with_the_files_of_its_time(
    graded: tuple[Database, Catalog, SubmissionId], box: Box
) -> None:
    """The former points decide, unless the newest are asked for; what is stored counts, the former result is kept.

    The newest files are kept with the result, so that it can be had again, and the student's waiting time stays.
    """
    database, catalog, id = graded
    newer = with_other_points(catalog)
    former = regrade.regrade(database, box, id, secret=SECRET)
    newest = regrade.regrade(database, box, id, secret=SECRET, newest=newer)
    regrade.keep(database, newest, SECRET)
    with database.read() as session:
        kept = submissions.get(session, id)
        reasons = session.execute(text("SELECT reason FROM gradings ORDER BY id")).scalars().all()

    assert former.same
    assert not newest.same
    assert newest.differences[0] == f"grading files: {newest.made_with.exercise}, now {newest.now.exercise}"
    assert all(re.search(r": passed, [\d.]+ of [\d.]+ points, now passed, ", line) for line in newest.differences[1:])
    assert kept is not None
    assert kept.report is not None
    assert kept.report.to_json() == newest.after.to_json()
    assert kept.finished == 3.0
    assert reasons == ["hand-in", "regrade"]
    assert regrade.regrade(database, box, id, secret=SECRET).same


def test_files_that_were_not_kept_are_named(graded: tuple[Database, Catalog, SubmissionId], box: Box) -> None:
    """Nothing is guessed: the message says which files are missing, and what can be done."""
    database, _, id = graded
    with database.write() as session:
        session.execute(text("DELETE FROM grading_files"))

    with pytest.raises(CannotRegrade, match=r"grading files of softmax at version \w{12} were not kept.*--newest"):
        regrade.regrade(database, box, id, secret=SECRET)
    with pytest.raises(CannotRegrade, match="there is no submission s2"):
        regrade.regrade(database, box, SubmissionId("s2"), secret=SECRET)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda content: content[: len(content) // 2], "BadZipFile: File is not a zip file"),
        (lambda content: with_file(content, "mistakes.py", b"import that_is_gone"), "No module named 'that_is_gone'"),
        (lambda content: with_file(content, "exercise.toml", b"titel = 1"), "`exercises/softmax/exercise.toml`: "),
    ],
)
def test_files_that_cannot_be_used_are_named(
    graded: tuple[Database, Catalog, SubmissionId], box: Box, damage: Callable[[bytes], bytes], said: str
) -> None:
    """Damaged ones, and those of another grader; the message names the folder of the exercise, not a temporary one."""
    database, _, id = graded
    with database.write() as session:
        row = session.scalars(select(GradingFilesRow)).one()
        row.content = damage(row.content)
        archive.sign(session, SECRET)

    with pytest.raises(
        CannotRegrade, match=r"files of softmax at version \w{12} cannot be used \(.*--newest"
    ) as refusal:
        regrade.regrade(database, box, id, secret=SECRET)
    assert said in str(refusal.value)


def changed_rows(row: dict[str, Any], other: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of kept files with each column changed in many ways, and with each columns of another row."""
    trap = with_file(row["content"], "mistakes.py", b"raise SystemExit('the trap has run')")
    values: dict[str, list[object]] = {
        "exercise": ["Softmax", "softmax ", "", "../softmax", b"softmax", 1],
        "version": ["", row["version"].upper() + "x", row["version"] + "\0", row["version"].encode()],
        "created": [0.0, row["created"] + 1e-6, -row["created"], "now", b"now"],
        "signature": [None, "", "0" * 64, row["signature"][:-1], row["signature"].upper(), row["signature"] + " ", 0,
                      row["signature"].encode(), keys.signature(b"of elsewhere", *row.values()),
                      keys.signature(b"", *row.values())],
        "content": [trap, b"", row["content"] + b"\0", row["content"][:-1], "a text", 7],
    }  # fmt: skip
    assert set(values) == set(GradingFilesRow.__table__.columns.keys())
    yield from (row | {name: value} for name, some in values.items() for value in some)
    for number in range(1, len(row)):
        for names in itertools.combinations(row, number):
            yield row | {name: other[name] for name in names}


def test_kept_files_that_were_changed_are_not_unpacked(
    graded: tuple[Database, Catalog, SubmissionId], box: Box, tmp_path: Path
) -> None:
    """Whatever column differs, however it was swapped with another row, and under another secret or none."""
    database, _, _ = graded
    with database.write() as session:
        archive.add(session, "other", "v1", b"a zip of another exercise", secret=SECRET)
    names = [column.name for column in GradingFilesRow.__table__.columns]
    with closing(sqlite3.connect(tmp_path / "class.sqlite3", isolation_level=None)) as raw:
        query = f"SELECT {', '.join(names)} FROM grading_files ORDER BY exercise"
        other, row = (dict(zip(names, line, strict=True)) for line in raw.execute(query))
        tried = list(changed_rows(row, other))
        for changed in tried:
            raw.execute("DELETE FROM grading_files")
            places = ", ".join("?" * len(names))
            raw.execute(f"INSERT INTO grading_files ({', '.join(names)}) VALUES ({places})", list(changed.values()))
            with (
                pytest.raises(archive.NotSigned),
                archive.restored(database, changed["exercise"], changed["version"], SECRET),
            ):
                pass
            with database.read() as session:
                assert len(archive.unsigned(session, SECRET)) == 1, changed

    assert len(tried) > 50


def test_only_files_that_this_installation_has_signed_are_run(
    graded: tuple[Database, Catalog, SubmissionId], box: Box
) -> None:
    """One line says what, why and what to do; those of today are run if asked for, and stored with a signature."""
    database, catalog, id = graded
    for secret in (None, b"of elsewhere"):
        with pytest.raises(CannotRegrade, match=r"grading files of softmax at version \w{12} are not signed.*--newest"):
            regrade.regrade(database, box, id, secret=secret)
    with database.write() as session:
        archive.sign(session, None)
    with pytest.raises(CannotRegrade, match="are not signed"):
        regrade.regrade(database, box, id, secret=SECRET)
    regrade.keep(database, regrade.regrade(database, box, id, secret=SECRET, newest=catalog), SECRET)
    assert regrade.regrade(database, box, id, secret=SECRET).same


def test_a_start_of_the_pages_signs_the_files_that_it_has_itself(
    graded: tuple[Database, Catalog, SubmissionId],
) -> None:
    """In the place of unsigned or changed ones; a worker without the secret adds what is missing, and no more."""
    database, catalog, _ = graded
    with database.write() as session:
        session.execute(text("UPDATE grading_files SET content = x'00'"))
    assert (archive.keep(database, catalog), archive.keep(database, catalog, SECRET)) == (0, 1)
    with database.write() as session:
        session.execute(text("DELETE FROM grading_files"))
    assert (archive.keep(database, catalog), archive.keep(database, catalog, SECRET)) == (1, 1)
    with database.read() as session:
        assert archive.unsigned(session, SECRET) == []


def test_files_keep_their_version_where_this_grader_hashes_them_otherwise(
    graded: tuple[Database, Catalog, SubmissionId], box: Box
) -> None:
    """They are the same files, and a result that is stored can be had again by that version."""
    database, _, id = graded
    with database.write() as session:
        session.execute(text("UPDATE grading_files SET version = 'of old'"))
        session.execute(text("UPDATE gradings SET exercise_version = 'of old'"))
        archive.sign(session, SECRET)
    found = regrade.regrade(database, box, id, secret=SECRET)
    regrade.keep(database, found, SECRET)

    assert (found.same, found.differences) == (True, ())
    assert regrade.regrade(database, box, id, secret=SECRET).made_with.exercise == "of old"


def test_a_fault_of_the_grader_replaces_no_result(graded: tuple[Database, Catalog, SubmissionId], box: Box) -> None:
    """It would cost the student points; neither is a result stored of what was deleted meanwhile."""
    database, _, id = graded
    found = regrade.regrade(database, box, id, secret=SECRET)
    with pytest.raises(CannotRegrade, match=r"failed during this grading \(ab12\), so nothing was stored"):
        regrade.keep(database, replace(found, after=replace(found.after, incident="ab12")), SECRET)
    with database.write() as session:
        session.execute(text("DELETE FROM users"))

    with pytest.raises(CannotRegrade, match="submission s1 was deleted meanwhile"):
        regrade.keep(database, found, SECRET)


def test_a_damaged_report_is_told(graded: tuple[Database, Catalog, SubmissionId], box: Box) -> None:
    """There is nothing to compare a new result with."""
    database, _, id = graded
    with database.write() as session:
        session.execute(text("UPDATE gradings SET report = substr(report, 1, 50)"))

    with pytest.raises(CannotRegrade, match="the stored report of submission s1 is damaged"):
        regrade.regrade(database, box, id, secret=SECRET)


def test_the_command_compares_and_exits_by_the_result(
    tmp_path: Path, box: Box, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that somebody has changed is found; who is unknown is told so, without an apology of ours."""
    monkeypatch.setattr(installation, "BoxToCome", lambda: LentBox(box))
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "var"))
    assert main(["rebuild"]) == 2
    assert "there is no database" in capsys.readouterr().err
    catalog = Catalog([read_exercise(ROOT / "exercises" / "softmax")])
    service = assemble(Settings.from_environment(), catalog, LentBox(box))
    ada = service.add_user("Ada", "correct horse", Role.STUDENT)
    id = service.submit(ada, "softmax", ANSWER)
    service.start()
    until(lambda: service.submission(ada, id).state is State.DONE, "graded")
    service.stop()

    assert main(["regrade", id]) == 0
    assert "every digit is the same" in capsys.readouterr().out
    assert main(["regrade", "0" * 24]) == 2
    assert capsys.readouterr().err == f"there is no submission {'0' * 24}\n"
    assert main(["regrade", "\udcff"]) == 2
    assert capsys.readouterr().err.startswith("'\\udcff' is no submission's id: ")

    database = Database(Settings.from_environment().store_url)
    with database.write() as session:
        body = session.execute(text("SELECT report FROM gradings")).scalar_one()
        changed = replace(Report.from_json(body), score=97.0).to_json()
        session.execute(text("UPDATE gradings SET report = :changed"), {"changed": changed})
    database.close()
    assert main(["regrade", id]) == 1
    assert "they differ\n  verdict: graded, 97.0 points, now graded, " in capsys.readouterr().out
    assert main(["rebuild"]) == 0


def test_files_are_kept_once(graded: tuple[Database, Catalog, SubmissionId]) -> None:
    """A second start finds everything there; a changed exercise is kept beside its former version."""
    database, catalog, _ = graded

    assert archive.keep(database, catalog, SECRET) == 0
    assert archive.keep(database, with_other_points(catalog), SECRET) == 1
