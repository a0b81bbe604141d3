"""The tables of the first day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

UNFINISHED = sa.text("state IN ('queued', 'running')")
TIME = sa.Float(53)


def upgrade() -> None:
    """Bring the database up to this revision."""
    _create_people()
    _create_submissions()
    _create_reports()
    _create_standings()


def downgrade() -> None:
    """Take the database back to the revision before."""
    for table in ("totals", "bests", "reports", "submissions", "drafts", "sessions", "users"):
        op.drop_table(table)


def _owner(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id_users", ondelete="CASCADE")


def _create_people() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("key", sa.String(160), nullable=False),
        sa.Column("password", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.CheckConstraint("role IN ('student', 'instructor')", name=op.f("ck_users_role")),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("key", name="uq_users_key"),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("expires", TIME, nullable=False),
        _owner("sessions"),
        sa.PrimaryKeyConstraint("digest", name="pk_sessions"),
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.create_index("ix_sessions_expires", "sessions", ["expires"])


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("exercise_version", sa.String(80), nullable=False),
        sa.Column("source", sa.LargeBinary, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("device", sa.String(16), nullable=False),
        sa.Column("torch_version", sa.String(40), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("finished", TIME, nullable=True),
        *_job_columns(),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'cancelled', 'broken')", name=op.f("ck_submissions_state")
        ),
        _owner("submissions"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("user_id", "exercise", "number", name="uq_submissions_user_id_exercise_number"),
    )
    _index_submissions()


def _job_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("queue", sa.String(16), nullable=True),
        sa.Column("priority", sa.BigInteger, nullable=False),
        sa.Column("ready", TIME, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(40), nullable=True),
        sa.Column("claim", sa.String(40), nullable=True),
        sa.Column("started", TIME, nullable=True),
    ]


def _index_submissions() -> None:
    op.create_index("ix_submissions_turn", "submissions", ["state", "queue", "priority", "id"])
    op.create_index("ix_submissions_worker", "submissions", ["state", "worker"])
    op.create_index("ix_submissions_history", "submissions", ["user_id", "created"])
    op.create_index(
        "uq_submissions_unfinished",
        "submissions",
        ["user_id", "exercise"],
        unique=True,
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    )


def _create_reports() -> None:
    op.create_table(
        "reports",
        sa.Column("submission_id", sa.String(40), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("score", TIME, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_reports_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", name="pk_reports"),
    )
    op.create_table(
        "drafts",
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("saved", TIME, nullable=False),
        _owner("drafts"),
        sa.PrimaryKeyConstraint("user_id", "exercise", name="pk_drafts"),
    )


def _create_standings() -> None:
    op.create_table(
        "bests",
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("score", TIME, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("reached", TIME, nullable=False),
        sa.Column("used", sa.Integer, nullable=False),
        _owner("bests"),
        sa.PrimaryKeyConstraint("user_id", "exercise", name="pk_bests"),
    )
    op.create_index("ix_bests_board", "bests", ["exercise", "score"])
    op.create_table(
        "totals",
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("score", TIME, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("reached", TIME, nullable=False),
        sa.Column("solved", sa.Integer, nullable=False),
        _owner("totals"),
        sa.PrimaryKeyConstraint("user_id", name="pk_totals"),
    )
