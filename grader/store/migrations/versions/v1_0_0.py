"""The tables of version 1.0.0, as they were then: a later migration changes them, and never this file."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "1.0.0"
down_revision = None
branch_labels = None
depends_on = None

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
TIME = SCORE = sa.Float(53)


def upgrade() -> None:
    """Make the tables, and the class that each installation begins with."""
    tables = sa.MetaData(naming_convention=NAMES)
    _declare_people(tables)
    _declare_submissions(tables)
    _declare_gradings(tables)
    _declare_caches(tables)
    _declare_passing(tables)
    tables.create_all(op.get_bind(), checkfirst=False)
    op.execute("INSERT INTO classes (id, name, created) VALUES (1, 'The class', 0.0)")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT setval(pg_get_serial_sequence('classes', 'id'), 1)")


def _column(name: str, kind: Any, *more: Any, **options: Any) -> sa.Column[Any]:
    """Return a column that must hold something."""
    return sa.Column(name, kind, *more, **{"nullable": False, **options})


def _maybe(name: str, kind: Any, *more: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, *more, nullable=True, **options)


def _points_at(parent: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{parent}.id", ondelete="CASCADE")


def _points_later_at(parent: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{parent}.id", ondelete="SET NULL", use_alter=True, deferrable=True, initially="DEFERRED")


def _index_where(condition: str, name: str, *columns: str, unique: bool = False) -> sa.Index:
    where = sa.text(condition)
    return sa.Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def _declare_people(tables: sa.MetaData) -> None:
    sa.Table(
        "users",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("name", sa.String(80)),
        _column("key", sa.String(160), unique=True),
        _column("password", sa.String(200)),
        _column("created", TIME),
        _column("renames", sa.Integer, server_default=sa.text("0")),
        sqlite_autoincrement=True,
    )
    sa.Table(
        "classes",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("name", sa.String(80)),
        _column("created", TIME),
        _maybe("code", sa.String(80)),
    )
    sa.Table(
        "memberships",
        tables,
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True),
        _column("class_id", sa.Integer, _points_at("classes"), primary_key=True),
        _column("role", sa.String(16)),
        _column("joined", TIME),
        _maybe("ended", TIME),
        _column("board", sa.String(16), server_default=sa.text("'pseudonym'")),
        sa.CheckConstraint("role IN ('student', 'instructor')", name="role"),
    )
    sa.Table(
        "sessions",
        tables,
        _column("digest", sa.String(64), primary_key=True),
        _column("user_id", sa.Integer, _points_at("users"), index=True),
        _column("created", TIME),
        _column("expires", TIME, index=True),
    )
    sa.Table(
        "drafts",
        tables,
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True),
        _column("exercise", sa.String(100), primary_key=True),
        _column("source", sa.Text),
        _column("saved", TIME),
    )


def _declare_submissions(tables: sa.MetaData) -> None:
    sa.Table(
        "submissions",
        tables,
        _column("id", sa.String(40), primary_key=True),
        _column("user_id", sa.Integer, _points_at("users")),
        _column("class_id", sa.Integer, _points_at("classes")),
        _column("exercise", sa.String(100)),
        _column("number", sa.Integer),
        _column("nth", sa.Integer, server_default=sa.text("0")),
        _column("state", sa.String(16)),
        _column("created", TIME),
        _maybe("finished", TIME),
        _maybe("current_grading", sa.Integer, _points_later_at("gradings"), index=True),
        _column("exercise_version", sa.String(80)),
        _column("seed", sa.BigInteger),
        _column("device", sa.String(16)),
        _column("source", sa.LargeBinary),
        sa.UniqueConstraint("user_id", "exercise", "number"),
        sa.CheckConstraint("state IN ('open', 'done', 'cancelled', 'broken')", name="state"),
        sa.Index("ix_submissions_history", "user_id", "created", "number", "exercise", "id"),
        _index_where("state = 'open'", "uq_submissions_open", "user_id", "exercise", unique=True),
    )
    sa.Table(
        "jobs",
        tables,
        _column("submission_id", sa.String(40), _points_at("submissions"), primary_key=True),
        _column("reason", sa.String(16)),
        _column("queue", sa.String(16)),
        _column("priority", sa.BigInteger),
        _column("ready", TIME),
        _column("tries", sa.Integer),
        _column("faults", sa.Integer),
        _column("kills", sa.Integer),
        _maybe("worker", sa.String(40)),
        _maybe("claim", sa.String(40)),
        _maybe("started", TIME),
        _column("payer", sa.String(64), server_default=sa.text("''")),
        _index_where("claim IS NULL", "ix_jobs_turn", "queue", "priority", "submission_id"),
    )


def _declare_gradings(tables: sa.MetaData) -> None:
    sa.Table(
        "gradings",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("submission_id", sa.String(40), _points_at("submissions"), index=True),
        _column("reason", sa.String(16)),
        _column("status", sa.String(16)),
        _column("score", SCORE),
        _column("flag", sa.String(16)),
        _column("incident", sa.String(16)),
        _column("created", TIME),
        _column("try_number", sa.Integer),
        _column("exercise_version", sa.String(80)),
        _column("grader_version", sa.String(80)),
        _column("torch_version", sa.String(40)),
        _column("seed", sa.BigInteger),
        _column("device", sa.String(16)),
        _column("report", sa.Text),
        _index_where("flag <> ''", "ix_gradings_flag", "created"),
    )
    sa.Table(
        "diagnoses",
        tables,
        _column("grading_id", sa.Integer, _points_at("gradings"), primary_key=True),
        _column("mistake", sa.String(100), primary_key=True),
        _column("title", sa.String(200)),
    )
    sa.Table(
        "locations",
        tables,
        _column("grading_id", sa.Integer, _points_at("gradings"), primary_key=True),
        _column("title", sa.String(200)),
    )
    sa.Table(
        "grading_files",
        tables,
        _column("exercise", sa.String(100), primary_key=True),
        _column("version", sa.String(80), primary_key=True),
        _column("created", TIME),
        _maybe("signature", sa.String(64)),
        _column("content", sa.LargeBinary),
    )


def _declare_caches(tables: sa.MetaData) -> None:
    sa.Table(
        "bests",
        tables,
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True),
        _column("exercise", sa.String(100), primary_key=True),
        _column("score", SCORE),
        _column("attempts", sa.Integer),
        _column("reached", TIME),
        _column("used", sa.Integer),
        sa.Index("ix_bests_board", "exercise", "score"),
    )
    sa.Table(
        "totals",
        tables,
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True),
        _column("score", SCORE),
        _column("attempts", sa.Integer),
        _column("reached", TIME),
        _column("solved", sa.Integer),
    )
    sa.Table(
        "mistakes",
        tables,
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True),
        _column("exercise", sa.String(100), primary_key=True),
        _column("mistake", sa.String(100), primary_key=True),
        _column("title", sa.String(200)),
        _column("times", sa.Integer),
    )


def _declare_passing(tables: sa.MetaData) -> None:
    """Declare what is worth nothing once the processes that wrote it have ended."""
    sa.Table(
        "buckets",
        tables,
        _column("id", sa.String(64), primary_key=True),
        _column("missing", TIME),
        _column("since", TIME),
        _column("full", TIME, index=True),
    )
    sa.Table(
        "processes",
        tables,
        _column("id", sa.String(32), primary_key=True),
        _column("machine", sa.String(16)),
        _column("slots", sa.Text),
        _column("version", sa.String(64)),
        _column("secret", sa.String(64)),
        _column("heard", TIME),
    )
    sa.Table(
        "tryouts",
        tables,
        _column("id", sa.String(32), primary_key=True),
        _column("asked", sa.Text),
        _column("created", TIME),
        _maybe("outcome", sa.Text),
    )
