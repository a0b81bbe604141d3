"""The tables: people, classes and what these assign, submissions, their gradings, the queue, and the caches.

A submission, its gradings and its place in a queue are three things. What is graded stands in `gradings` and is never
overwritten; `submissions.current_grading` says which of them counts. `bests`, `totals`, `mistakes` and
`submissions.nth` are caches that `grader.store.standings` rebuilds from the gradings. Long columns stand last: SQLite
reads a row from its beginning.

Times are seconds since the epoch (float), because SQLite drops the zone of a timestamp. Openings, due times and
publications are minutes on the wall of the class's zone, as text: `2026-10-09T23:59`. Points are whole hundredths, and
shares of a penalty whole ten-thousandths. Every constraint has a name by convention, because a migration on SQLite can
only drop what it can name.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
OPEN = "open"  # SubmissionRow.state until there is a result
_IS_OPEN = text("state = 'open'")
FLAGGED = text("flag <> ''")
_WAITING = text("claim IS NULL")
INITIAL_CLASS = 1  # the one that each database begins with
PASSING = {"passing": True}  # of tables whose rows are worth nothing once the processes that wrote them have ended


class Base(DeclarativeBase):
    """The root of the mapped classes."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {float: Float(53)}


class UserRow(Base):
    """A person; `key` is the name folded so that two names that look alike collide.

    Somebody whom a roster has brought signs in with their e-mail address, which is their `key` as well.
    """

    __tablename__ = "users"
    __table_args__ = (
        Index("uq_users_email", "email", unique=True),  # a later column, and SQLite adds no constraint
        {"sqlite_autoincrement": True},  # no id is given again
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    key: Mapped[str] = mapped_column(String(160), unique=True)
    password: Mapped[str] = mapped_column(String(200))  # an argon2 hash
    created: Mapped[float]
    renames: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    email: Mapped[str | None] = mapped_column(String(254))  # folded
    administrator: Mapped[bool] = mapped_column(default=False, server_default=false())


class ClassRow(Base):
    """A class; an installation begins with one, of the id `INITIAL_CLASS`.

    `code` is what students join with; without one nobody can, but the initial class by the code of the settings. `key`
    is how commands and addresses of pages name it, and `bank` the late days that each student has.
    """

    __tablename__ = "classes"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    created: Mapped[float]
    code: Mapped[str | None] = mapped_column(String(80))
    key: Mapped[str] = mapped_column(String(40), unique=True)
    zone: Mapped[str] = mapped_column(String(64), server_default=text("'UTC'"))
    bank: Mapped[int] = mapped_column(default=0, server_default=text("0"))


class SectionRow(Base):
    """A section of a class."""

    __tablename__ = "sections"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(80), primary_key=True)


class MembershipRow(Base):
    """What a person is in a class, and on its leaderboards; `ended` is empty as long as they belong to it.

    `section`, `name`, `number` and `lms_id` are as the roster has them; an assistant's sections are in `sections`, one
    a line.
    """

    __tablename__ = "memberships"
    __table_args__ = (CheckConstraint("role IN ('student', 'assistant', 'instructor')", name="role"),)

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16))
    joined: Mapped[float]
    ended: Mapped[float | None]
    board: Mapped[str] = mapped_column(String(16), server_default=text("'pseudonym'"))  # BoardName
    section: Mapped[str] = mapped_column(String(80), default="", server_default=text("''"))
    name: Mapped[str] = mapped_column(String(200), default="", server_default=text("''"))
    number: Mapped[str] = mapped_column(String(200), default="", server_default=text("''"))
    lms_id: Mapped[str] = mapped_column(String(200), default="", server_default=text("''"))
    sections: Mapped[str] = mapped_column(Text, default="", server_default=text("''"))


class SessionRow(Base):
    """A signed-in browser; only the hash of its token is kept."""

    __tablename__ = "sessions"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created: Mapped[float]
    expires: Mapped[float] = mapped_column(index=True)


class DraftRow(Base):
    """What a person was typing last for an exercise."""

    __tablename__ = "drafts"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    source: Mapped[str] = mapped_column(Text)
    saved: Mapped[float]


class SubmissionRow(Base):
    """What was handed in; where it stands in a queue is in `jobs`, what came of it in `gradings`.

    Without an assignment it is practice, which is of no class. The due time that was promised to its person at the
    hand-in goes on counting for it. `state` is `open` until there is a result, or it is cancelled. `exercise_version`
    is that at the hand-in. `nth` is a cache: which of the person's attempts it is, 0 for one that uses up none.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "exercise", "number"),
        CheckConstraint("state IN ('open', 'done', 'cancelled', 'broken')", name="state"),
        # All that lists go by, so that they read no rows but those that are listed.
        Index("ix_submissions_history", "user_id", "created", "number", "exercise", "id"),
        Index(
            "uq_submissions_open", "user_id", "exercise", unique=True, sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN
        ),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    exercise: Mapped[str] = mapped_column(String(100))
    number: Mapped[int]
    nth: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    state: Mapped[str] = mapped_column(String(16))
    created: Mapped[float]  # handed in
    finished: Mapped[float | None]
    current_grading: Mapped[int | None] = mapped_column(  # looked at when a transaction ends: each points at the other
        ForeignKey("gradings.id", ondelete="SET NULL", use_alter=True, deferrable=True, initially="DEFERRED"),
        index=True,
    )
    exercise_version: Mapped[str] = mapped_column(String(80))
    seed: Mapped[int] = mapped_column(BigInteger)
    device: Mapped[str] = mapped_column(String(16))  # that was asked for
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id", ondelete="SET NULL"), index=True)
    promised_due: Mapped[str | None] = mapped_column(String(16))
    promised_zone: Mapped[str | None] = mapped_column(String(64))
    aside: Mapped[bool] = mapped_column(default=False, server_default=false())  # its owner does not want it to count
    source: Mapped[bytes] = mapped_column(LargeBinary)


class GradingRow(Base):
    """One result of grading a submission; written once.

    One that belongs to a change is not the current one of its submission before the change is applied.
    """

    __tablename__ = "gradings"
    __table_args__ = (Index("ix_gradings_flag", "created", sqlite_where=FLAGGED, postgresql_where=FLAGGED),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str] = mapped_column(String(16))  # why it was graded: `hand-in`, `regrade`, `given`
    status: Mapped[str] = mapped_column(String(16))
    score: Mapped[float]
    flag: Mapped[str] = mapped_column(String(16))  # Report.flag, for instructors' lists
    incident: Mapped[str] = mapped_column(String(16))  # of a fault of ours that cost the report a part; else empty
    created: Mapped[float]
    try_number: Mapped[int]  # which try of its job gave it
    exercise_version: Mapped[str] = mapped_column(String(80))  # of the grading files that it was graded with
    grader_version: Mapped[str] = mapped_column(String(80))  # of the code that it was graded with; empty: unknown
    torch_version: Mapped[str] = mapped_column(String(40))
    seed: Mapped[int] = mapped_column(BigInteger)
    device: Mapped[str] = mapped_column(String(16))
    change_id: Mapped[int | None] = mapped_column(ForeignKey("changes.id", ondelete="SET NULL"), index=True)
    report: Mapped[str] = mapped_column(Text)  # Report.to_json


class DiagnosisRow(Base):
    """A mistake that a grading names."""

    __tablename__ = "diagnoses"

    grading_id: Mapped[int] = mapped_column(ForeignKey("gradings.id", ondelete="CASCADE"), primary_key=True)
    mistake: Mapped[str] = mapped_column(String(100), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))


class LocationRow(Base):
    """Where an answer begins to differ from the reference, as the report of a grading says it in one line."""

    __tablename__ = "locations"

    grading_id: Mapped[int] = mapped_column(ForeignKey("gradings.id", ondelete="CASCADE"), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))


class GradingFilesRow(Base):
    """The files that decided scores of an exercise at one version, packed; kept so that it can be graded again."""

    __tablename__ = "grading_files"

    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    version: Mapped[str] = mapped_column(String(80), primary_key=True)
    created: Mapped[float]
    signature: Mapped[str | None] = mapped_column(String(64))  # `keys.signature` of the other columns
    content: Mapped[bytes] = mapped_column(LargeBinary)  # a zip


class AssignmentRow(Base):
    """What a class is to hand in, until when, and how it counts; `revision` counts its changes."""

    __tablename__ = "assignments"
    __table_args__ = (UniqueConstraint("class_id", "key"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)  # ascends in the order in which they were made
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(String(40))
    title: Mapped[str] = mapped_column(String(200))
    opens: Mapped[str] = mapped_column(String(16))
    due: Mapped[str] = mapped_column(String(16))
    grace: Mapped[int]  # minutes
    per_day: Mapped[int]
    at_most: Mapped[int]
    share_of: Mapped[str] = mapped_column(String(16))
    bank_max: Mapped[int]
    cutoff: Mapped[int | None]  # days; None: never
    count: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int | None]  # None: as many as they like
    show: Mapped[str] = mapped_column(String(20))
    show_checks: Mapped[str] = mapped_column(Text)  # by dimension, as JSON
    published: Mapped[float | None]
    revision: Mapped[int]


class ItemRow(Base):
    """An exercise of an assignment, and what it is worth."""

    __tablename__ = "assignment_items"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int]
    weight: Mapped[int]


class SectionDueRow(Base):
    """The due time of a section that has its own."""

    __tablename__ = "section_dues"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    section: Mapped[str] = mapped_column(String(80), primary_key=True)
    due: Mapped[str] = mapped_column(String(16))


class HeldRow(Base):
    """Whom the publication of an assignment does not reach."""

    __tablename__ = "held"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)


class ExceptionRow(Base):
    """What was granted to a person, for an assignment or for the class; the latest of a kind counts."""

    __tablename__ = "exceptions"
    __table_args__ = (Index("ix_exceptions_person", "class_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    assignment_id: Mapped[int | None] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), index=True)
    field: Mapped[str] = mapped_column(String(16))
    value: Mapped[str | None] = mapped_column(String(16))  # a wall time or a whole number; None: withdrawn
    reason: Mapped[str] = mapped_column(Text)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    at: Mapped[float]


class OverrideRow(Base):
    """The points that replace a cell's computed ones; the latest counts, and their number is the cell's revision."""

    __tablename__ = "overrides"
    __table_args__ = (Index("ix_overrides_cell", "assignment_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    points: Mapped[int | None]  # None: withdrawn
    reason: Mapped[str] = mapped_column(Text)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    at: Mapped[float]


class CommentRow(Base):
    """What staff wrote to a cell of the gradebook."""

    __tablename__ = "comments"
    __table_args__ = (Index("ix_comments_cell", "assignment_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    at: Mapped[float]
    shown: Mapped[bool]  # to the student
    text: Mapped[str] = mapped_column(Text)


class ChangeRow(Base):
    """A regrade of a class's attempts at an exercise: made and looked at, and then applied or cancelled."""

    __tablename__ = "changes"
    __table_args__ = (UniqueConstraint("class_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(String(40))
    exercise: Mapped[str] = mapped_column(String(100))
    keep: Mapped[str] = mapped_column(String(16))  # `new` or `better`
    reason: Mapped[str] = mapped_column(Text)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    made: Mapped[float]
    state: Mapped[str] = mapped_column(String(16))  # `open`, `applied`, `cancelled`
    ended: Mapped[float | None]
    seen: Mapped[str] = mapped_column(Text)  # the cells, banks and attempts that were previewed, as JSON


class AuditRow(Base):
    """What staff have done; rows are only ever added."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_class", "class_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    class_id: Mapped[int | None] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"))
    at: Mapped[float]
    by: Mapped[str] = mapped_column(String(254))
    do: Mapped[str] = mapped_column(String(16))
    subject: Mapped[str] = mapped_column(String(300))
    ok: Mapped[bool]
    before: Mapped[str] = mapped_column(Text)  # as JSON
    after: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)


class NoticeRow(Base):
    """What a person is told the next time that they come."""

    __tablename__ = "notices"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    change_id: Mapped[int | None] = mapped_column(ForeignKey("changes.id", ondelete="CASCADE"), index=True)
    at: Mapped[float]
    read: Mapped[float | None]
    text: Mapped[str] = mapped_column(Text)


class GivenVersionRow(Base):
    """With which version of an exercise given scores count from now on, in a term that is replayed."""

    __tablename__ = "given_versions"

    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    version: Mapped[str] = mapped_column(String(80))


class JobRow(Base):
    """A submission's place in a queue; gone when it is done.

    `payer` is who is charged for the time that it takes, and has turns with others (`grader.jobs.shares`).
    `worker` names the process that is grading it, `claim` its present try, so that a result of an older try can be
    told from the current one; a job that waits has neither. The result of one with a `change_id` is that change's, and
    stands beside the current one.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("ix_jobs_turn", "queue", "priority", "submission_id", sqlite_where=_WAITING, postgresql_where=_WAITING),
    )

    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    reason: Mapped[str] = mapped_column(String(16))
    queue: Mapped[str] = mapped_column(String(16))
    priority: Mapped[int] = mapped_column(BigInteger)  # milliseconds since the epoch; decides among those of a payer
    ready: Mapped[float]  # not to be taken before this time
    tries: Mapped[int]  # how often it was taken
    faults: Mapped[int]  # how often a fault of ours ended a try
    kills: Mapped[int]  # how often what ran it was killed
    worker: Mapped[str | None] = mapped_column(String(40))
    claim: Mapped[str | None] = mapped_column(String(40))
    started: Mapped[float | None]
    payer: Mapped[str] = mapped_column(String(64), server_default=text("''"))
    change_id: Mapped[int | None] = mapped_column(ForeignKey("changes.id", ondelete="CASCADE"), index=True)


class BestRow(Base):
    """A person's best on an exercise, so that a board never reads the submissions; a cache of the gradings."""

    __tablename__ = "bests"
    __table_args__ = (Index("ix_bests_board", "exercise", "score"),)

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    score: Mapped[float]
    attempts: Mapped[int]  # used up to and including the best one
    reached: Mapped[float]  # when the best one was handed in
    used: Mapped[int]  # used in all


class TotalRow(Base):
    """A person's sums over the exercises; a cache of `bests`."""

    __tablename__ = "totals"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    score: Mapped[float]
    attempts: Mapped[int]
    reached: Mapped[float]
    solved: Mapped[int]


class MistakeRow(Base):
    """How often a mistake was named in a person's work; a cache of the diagnoses."""

    __tablename__ = "mistakes"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    mistake: Mapped[str] = mapped_column(String(100), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    times: Mapped[int]


class BucketRow(Base):
    """What is missing in a token bucket of one key; a full bucket needs no row."""

    __tablename__ = "buckets"
    __table_args__ = ({"info": PASSING},)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)  # digest of what is counted and of whom
    missing: Mapped[float]
    since: Mapped[float]
    full: Mapped[float] = mapped_column(index=True)  # when it is full again


class ProcessRow(Base):
    """A process of an installation on several machines, as it was last heard of."""

    __tablename__ = "processes"
    __table_args__ = ({"info": PASSING},)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    machine: Mapped[str] = mapped_column(String(16))
    slots: Mapped[str] = mapped_column(Text)  # how many submissions it grades at once on each device, as JSON
    version: Mapped[str] = mapped_column(String(64))  # of the code that grades
    secret: Mapped[str] = mapped_column(String(64))  # digest of the secret that it serves pages with; "" without pages
    heard: Mapped[float]


class TryoutRow(Base):
    """What somebody tries on a machine without sandbox; gone once the answer was fetched."""

    __tablename__ = "tryouts"
    __table_args__ = ({"info": PASSING},)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    asked: Mapped[str] = mapped_column(Text)  # as JSON
    created: Mapped[float]
    outcome: Mapped[str | None] = mapped_column(Text)  # as JSON
