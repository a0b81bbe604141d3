"""An installation in which people have worked: some rows in every table."""

from __future__ import annotations

from contextlib import closing

from sqlalchemy import select

from grader.jobs import archive, claims
from grader.judge.report import Diagnosis, Location, Report, Status
from grader.service.classes.answers import Classes
from grader.store import classes, coursework, people, submissions
from grader.store.dump import lasting
from grader.store.engine import Database
from grader.store.gradings import Grading, Versions, store
from grader.store.records import Draft, Role, Submission, SubmissionId, User
from grader.store.tables import INITIAL_CLASS, CommentRow

LATE = Diagnosis(mistake="late", title="Late", message="m", certain=True)
TAUGHT = 1_790_000_000.0  # 21 September 2026
VERSIONS = Versions(exercise="v1", grader="g1", torch="2")


def fill(database: Database) -> None:
    """Store people, what they have handed in, and a job that a process which was killed holds."""
    with database.write() as session:
        prof = people.add(session, "Prof", Role.INSTRUCTOR, key="prof", password="h1", now=1.5)
        ada = people.add(session, "Ada", Role.STUDENT, key="ada", password="h2", now=2.5)
        gone = people.add(session, "Gone", Role.STUDENT, key="gone", password="h3", now=3.5)
        visitor = people.add(session, "", Role.LEARNER, key="\nvisitor 1", password="", now=4.5)
        people.open_session(session, visitor.id, digest="d" * 64, now=5.0, expires=1e12)
        people.keep_draft(session, ada.id, "softmax", Draft("a\0b ä \N{GREEK SMALL LETTER LAMDA}", 6.125))
        people.replace_class_code(session, INITIAL_CLASS, "another-code")
        classes.set_presence(session, INITIAL_CLASS, gone.id, ended=7.0)
        for number, (owner, score) in enumerate([(ada, 0.1 + 0.2), (ada, 100.0), (visitor, 50.0), (prof, 1.0)]):
            made = submissions.add(session, _draft(owner, number))
            report = Report(
                exercise=made.exercise, status=Status.GRADED, score=score, seed=number, device="cpu", seconds=0.25,
                diagnosis=(LATE,), location=Location(step="weights", title="From line 3 on", message="m"),
            )  # fmt: skip
            store(session, made.id, Grading.of(report, VERSIONS, 20.0 + number))
        for number in (8, 9):
            submissions.add(session, _draft(ada, number))
            claims.enqueue(session, SubmissionId(f"s{number}"), queue="cpu", priority=number, ready=0.0)
        claims.take(session, "cpu", worker="killed", token="t", now=30.0)
        archive.add(session, "softmax", "v1", bytes(range(256)))
    fill_class(database)
    with database.write() as session:
        newest = people.add(session, "Newest", Role.STUDENT, key="newest", password="h5", now=8.0)
        for person in (gone, newest):
            people.delete_person(session, person.id)


def fill_class(database: Database) -> None:
    """Let a class be taught, with something of each kind in it."""
    asked, database.clock = Classes(database, clock=lambda: TAUGHT), lambda: TAUGHT

    def do(name: str, /, **fields: object) -> None:
        asked.do("admin", name, {"class": "K", **fields} if name != "version" else fields)

    do("class", name="Class K", zone="Europe/Berlin", bank=2, sections=["K1", "K2"])
    do("import", csv="email,name,section\nida@school.edu,Ida,K1\nkai@school.edu,Kai,K2")
    do("assign", assignment="K-1", items={"softmax": "10"}, opens="2026-09-01T00:00", due="2026-10-01T12:00",
       section_due={"K2": "2026-10-02T12:00"}, show="after_publication")  # fmt: skip
    fields = {"person": "ida@school.edu", "assignment": "K-1"}
    do("hand_in", **fields, exercise="softmax", id="k1", scores={"1": "50", "2": "75.25"})
    do("except", **fields, field="due", value="2026-10-03T12:00", reason="ill")
    do("override", person="kai@school.edu", assignment="K-1", points="9.50", reason="agreed")
    do("publish", assignment="K-1", hold=["kai@school.edu"])
    do("version", exercise="softmax", version="2")
    do("regrade", exercise="softmax", change="c1", reason="a case more")
    do("apply", change="c1")
    with database.write() as session:
        assignment = coursework.assignment_id(session, 2, "K-1")
        user = classes.find_person(session, "ida@school.edu")
        session.add(CommentRow(assignment_id=assignment, user_id=user, by=1, at=TAUGHT, shown=True, text="Well done"))
    database.clock = None


def _draft(owner: User, number: int) -> Submission:
    return Submission(
        id=SubmissionId(f"s{number}"), user=owner.id, exercise=f"exercise {number}", exercise_version="v1",
        seed=2**47 + number, device="cpu", created=10.0 + number / 3, raw=b"\x00\xff" + bytes([number]),
    )  # fmt: skip


def everything(url: str) -> dict[str, list[tuple[object, ...]]]:
    with closing(Database(url)) as database, database.read() as session:
        return {
            table.name: sorted((tuple(line) for line in session.execute(select(table))), key=repr)
            for table in lasting()
        }
