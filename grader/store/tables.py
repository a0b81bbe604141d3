"""The tables: people, their sessions and drafts, what they handed in, the reports, and the standings.

Times are seconds since the epoch (float), because SQLite drops the zone of a timestamp. Every constraint has a name
by convention, because a migration on SQLite can only drop what it can name.
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
UNFINISHED = text("state IN ('queued', 'running')")
FLAGGED = text("flag <> ''")


class Base(DeclarativeBase):
    """The root of the mapped classes."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {float: Float(53)}


class UserRow(Base):
    """A person; `key` is the name folded so that two names that look alike collide."""

    __tablename__ = "users"
    __table_args__ = (CheckConstraint("role IN ('student', 'instructor')", name="role"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    key: Mapped[str] = mapped_column(String(160), unique=True)
    password: Mapped[str] = mapped_column(String(200))  # an argon2 hash
    role: Mapped[str] = mapped_column(String(16))
    created: Mapped[float]


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
    """A submission, and at the same time its job: this table is the queue.

    `queue` stays empty until the engine has taken the job over. `claim` is a fresh token for every try, so that a
    result of an older try can be told from the current one; `worker` names the process that holds the claim.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "exercise", "number"),
        CheckConstraint("state IN ('queued', 'running', 'done', 'cancelled', 'broken')", name="state"),
        Index("ix_submissions_turn", "state", "queue", "priority", "id"),
        Index("ix_submissions_worker", "state", "worker"),
        Index("ix_submissions_history", "user_id", "created"),
        Index(
            "uq_submissions_unfinished", "user_id", "exercise", unique=True,
            sqlite_where=UNFINISHED, postgresql_where=UNFINISHED,
        ),
    )  # fmt: skip

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    exercise: Mapped[str] = mapped_column(String(100))
    exercise_version: Mapped[str] = mapped_column(String(80))
    source: Mapped[bytes] = mapped_column(LargeBinary)
    seed: Mapped[int] = mapped_column(BigInteger)
    device: Mapped[str] = mapped_column(String(16))
    torch_version: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(16))
    number: Mapped[int]
    created: Mapped[float]
    finished: Mapped[float | None]

    queue: Mapped[str | None] = mapped_column(String(16))
    priority: Mapped[int] = mapped_column(BigInteger)  # virtual deadline in milliseconds since the epoch
    ready: Mapped[float]  # not to be taken before this time
    tries: Mapped[int]  # how often it was taken
    faults: Mapped[int]  # how often a fault of ours ended a try
    kills: Mapped[int] = mapped_column(server_default=text("0"))  # how often what ran it was killed
    worker: Mapped[str | None] = mapped_column(String(40))
    claim: Mapped[str | None] = mapped_column(String(40))
    started: Mapped[float | None]


class ReportRow(Base):
    """The verdict; the primary key allows one report per submission, whatever happens."""

    __tablename__ = "reports"
    __table_args__ = (Index("ix_reports_flag", "created", sqlite_where=FLAGGED, postgresql_where=FLAGGED),)

    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int]  # the try that gave it
    status: Mapped[str] = mapped_column(String(16))
    score: Mapped[float]
    created: Mapped[float]
    body: Mapped[str] = mapped_column(Text)  # Report.to_json
    flag: Mapped[str] = mapped_column(String(16), server_default=text("''"))  # Report.flag, for instructors' lists


class BestRow(Base):
    """A person's best on an exercise: written with each report, so that a board never reads the submissions."""

    __tablename__ = "bests"
    __table_args__ = (Index("ix_bests_board", "exercise", "score"),)

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    score: Mapped[float]
    attempts: Mapped[int]  # used up to and including the best one
    reached: Mapped[float]
    used: Mapped[int]  # used in all


class TotalRow(Base):
    """A person's sums over the exercises, kept in step with `bests`."""

    __tablename__ = "totals"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    score: Mapped[float]
    attempts: Mapped[int]
    reached: Mapped[float]
    solved: Mapped[int]


class MistakeRow(Base):
    """How often a mistake was diagnosed in a person's work; written with each report, so that nobody reads them all."""

    __tablename__ = "mistakes"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(100), primary_key=True)
    mistake: Mapped[str] = mapped_column(String(100), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    times: Mapped[int]
