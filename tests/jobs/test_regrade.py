"""A submission that is graded once more, with the files and the seed that its score came from."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from grader.bootstrap import assemble
from grader.cli.main import main
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.jobs import archive, regrade
from grader.jobs.grading import versions_of
from grader.jobs.regrade import CannotRegrade
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.sandbox.plain import PlainBox
from grader.sandbox.runner import Sandbox
from grader.settings import Settings
from grader.store import accounts, gradings, submissions
from grader.store.engine import Database
from grader.store.gradings import Grading
from grader.store.records import Role, State, Submission, SubmissionId
from tests.jobs.classroom import open_database, until

ANSWER = "import torch\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)\n"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """Give the sandbox."""
    with Sandbox() as box:
        yield box


@pytest.fixture
def graded(tmp_path: Path, box: Sandbox) -> Iterator[tuple[Database, Catalog, SubmissionId]]:
    """Give a submission that was graded, and the exercise that graded it, in a folder that can be changed."""
    for name in ("exercises/softmax", "reference/softmax.py"):
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    catalog, database, id = Catalog.load(tmp_path), open_database(tmp_path), SubmissionId("s1")
    archive.keep(database, catalog)
    exercise = catalog["softmax"]
    report = grade(exercise, ANSWER, seed=77, box=box)
    with database.write() as session:
        ada = accounts.add(session, "Ada", Role.STUDENT, key="ada", password="hash", now=1.0)
        draft = Submission(
            id=id, user=ada.id, exercise="softmax", exercise_version=exercise.version, raw=ANSWER.encode(), seed=77,
            device="cpu", created=2.0,
        )  # fmt: skip
        submissions.add(session, draft)
        gradings.store(session, id, Grading.of(report, versions_of(exercise), 3.0), state=State.DONE)
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


def test_the_same_files_give_the_same_digits(graded: tuple[Database, Catalog, SubmissionId], box: Sandbox) -> None:
    """The score is not full, and each check has the points that it had."""
    database, catalog, id = graded
    found = regrade.regrade(database, catalog, box, id)

    assert (found.same, found.differences) == (True, ())
    assert 0.0 < found.before.score < 100.0


def test_a_changed_exercise_is_graded_with_the_files_of_its_time(
    graded: tuple[Database, Catalog, SubmissionId], box: Sandbox
) -> None:
    """The former points decide, unless the newest are asked for; what is stored counts, the former result is kept."""
    database, catalog, id = graded
    newer = with_other_points(catalog)
    former = regrade.regrade(database, newer, box, id)
    newest = regrade.regrade(database, newer, box, id, newest=True)
    regrade.keep(database, id, newest)
    with database.read() as session:
        kept = submissions.get(session, id)
        reasons = session.execute(text("SELECT reason FROM gradings ORDER BY id")).scalars().all()

    assert former.same
    assert not newest.same
    assert [difference.split()[0] for difference in newest.differences] == ["grading"]
    assert kept is not None
    assert kept.report is not None
    assert kept.report.to_json() == newest.after.to_json()
    assert reasons == ["hand-in", "regrade"]


def test_files_that_were_not_kept_are_named(graded: tuple[Database, Catalog, SubmissionId], box: Sandbox) -> None:
    """Nothing is guessed: the message says which files are missing, and what can be done."""
    database, catalog, id = graded
    with database.write() as session:
        session.execute(text("DELETE FROM grading_files"))

    with pytest.raises(CannotRegrade, match=r"grading files of softmax at version \w{12} were not kept.*--newest"):
        regrade.regrade(database, catalog, box, id)
    with pytest.raises(CannotRegrade, match="there is no submission s2"):
        regrade.regrade(database, catalog, box, SubmissionId("s2"))


def test_the_command_compares_and_exits_by_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that somebody has changed is found; who is unknown is told so, without an apology of ours."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path / "var"))
    catalog = Catalog([read_exercise(ROOT / "exercises" / "softmax")])
    service = assemble(Settings.from_environment(), catalog, PlainBox())
    ada = service.add_user("Ada", "correct horse", Role.STUDENT)
    id = service.submit(ada, "softmax", ANSWER)
    service.start()
    until(lambda: service.submission(ada, id).state is State.DONE, "graded")
    service.stop()

    assert main(["regrade", id]) == 0
    assert "every digit is the same" in capsys.readouterr().out
    assert main(["regrade", "nobody's"]) == 2
    assert capsys.readouterr().err == "there is no submission nobody's\n"

    database = Database(Settings.from_environment().file_url)
    with database.write() as session:
        body = session.execute(text("SELECT report FROM gradings")).scalar_one()
        changed = replace(Report.from_json(body), score=97.0).to_json()
        session.execute(text("UPDATE gradings SET report = :changed"), {"changed": changed})
    database.close()
    assert main(["regrade", id]) == 1
    assert "they differ" in capsys.readouterr().out
    assert main(["rebuild"]) == 0


def test_files_are_kept_once(graded: tuple[Database, Catalog, SubmissionId]) -> None:
    """A second start finds everything there; a changed exercise is kept beside its former version."""
    database, catalog, _ = graded

    assert archive.keep(database, catalog) == 0
    assert archive.keep(database, with_other_points(catalog)) == 1
