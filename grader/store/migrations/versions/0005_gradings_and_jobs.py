"""Submissions, gradings and jobs become three tables, roles belong to a class, and the caches are made anew.

A report becomes the one grading of its submission, an unfinished submission gets a job. Nobody noted the version of the
code that graded, so it stays empty. In the caches, who was earlier is now decided by the hand-in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TIME = sa.Float(53)
IS_OPEN = sa.text("state = 'open'")
FLAGGED = sa.text("flag <> ''")
WAITING = sa.text("claim IS NULL")
AT_ONCE = 1000  # rows
OLD_CONSTRAINTS = (
    "fk_submissions_user_id_users", "uq_submissions_user_id_exercise_number", "ck_submissions_state", "pk_submissions",
)  # fmt: skip

COPY = (
    "INSERT INTO classes (id, name, created) VALUES (1, 'The class', 0.0)",
    "INSERT INTO memberships (user_id, class_id, role, joined) SELECT id, 1, role, created FROM users",
    """INSERT INTO submissions (id, user_id, class_id, exercise, number, state, created, finished, exercise_version,
                                seed, device, source)
       SELECT id, user_id, 1, exercise, number, CASE WHEN state IN ('queued', 'running') THEN 'open' ELSE state END,
              created, finished, exercise_version, seed, device, source
       FROM old_submissions""",
    """INSERT INTO gradings (submission_id, reason, status, score, flag, incident, created, try_number,
                             exercise_version, grader_version, torch_version, seed, device, report)
       SELECT s.id, 'hand-in', r.status, r.score, r.flag, '', r.created, r.attempt, s.exercise_version, '',
              s.torch_version, s.seed, s.device, r.body
       FROM reports r JOIN old_submissions s ON s.id = r.submission_id ORDER BY r.created""",
    """INSERT INTO jobs (submission_id, reason, queue, priority, ready, tries, faults, kills, worker, claim, started)
       SELECT id, 'hand-in', COALESCE(queue, device), priority, ready, tries, faults, kills, worker, claim, started
       FROM old_submissions WHERE state IN ('queued', 'running')""",
    """UPDATE submissions SET current_grading = (SELECT g.id FROM gradings g WHERE g.submission_id = submissions.id)
       WHERE state IN ('done', 'broken')""",
)
REBUILD = (
    "DELETE FROM bests",
    "DELETE FROM totals",
    "DELETE FROM mistakes",
    """INSERT INTO bests (user_id, exercise, score, attempts, reached, used)
       SELECT user_id, exercise, score, attempts, reached, used FROM (
           SELECT s.user_id, s.exercise, g.score, s.created AS reached,
               SUM(CASE WHEN g.incident = '' THEN 1 ELSE 0 END)
                   OVER (PARTITION BY s.user_id, s.exercise ORDER BY s.number ROWS UNBOUNDED PRECEDING) AS attempts,
               SUM(CASE WHEN g.incident = '' THEN 1 ELSE 0 END) OVER (PARTITION BY s.user_id, s.exercise) AS used,
               ROW_NUMBER() OVER (PARTITION BY s.user_id, s.exercise ORDER BY g.score DESC, s.number) AS place
           FROM submissions s JOIN gradings g ON g.id = s.current_grading
           WHERE g.status NOT IN ('rejected', 'ungradable')) AS counted
       WHERE place = 1""",
    """INSERT INTO totals (user_id, score, attempts, reached, solved)
       SELECT user_id, ROUND(SUM(score) * 100) / 100, SUM(attempts), MAX(reached),
              SUM(CASE WHEN score >= 100 THEN 1 ELSE 0 END)
       FROM bests GROUP BY user_id""",
    """INSERT INTO mistakes (user_id, exercise, mistake, title, times)
       SELECT user_id, exercise, mistake, title, times FROM (
           SELECT s.user_id, s.exercise, d.mistake, d.title,
               COUNT(*) OVER (PARTITION BY s.user_id, s.exercise, d.mistake) AS times,
               ROW_NUMBER() OVER (PARTITION BY s.user_id, s.exercise, d.mistake ORDER BY s.number DESC) AS place
           FROM submissions s JOIN diagnoses d ON d.grading_id = s.current_grading
           WHERE s.state = 'done') AS named
       WHERE place = 1""",
)


def upgrade() -> None:
    """Make the new tables, and carry everything over."""
    _make_way()
    _create_classes()
    _create_submissions()
    _create_gradings()
    _create_jobs()
    for statement in COPY:
        op.execute(statement)
    _read_reports()
    for statement in REBUILD:
        op.execute(statement)
    op.drop_table("reports")
    op.drop_table("old_submissions")
    _drop_roles()


def downgrade() -> None:
    """Refuse: the former tables have no room for what the new ones hold.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("restore the copy of the database that lies beside its file")


def _make_way() -> None:
    for index in (
        "ix_submissions_turn",
        "ix_submissions_worker",
        "ix_submissions_history",
        "uq_submissions_unfinished",
    ):
        op.drop_index(index, "submissions")
    op.drop_index("ix_reports_flag", "reports")
    op.rename_table("submissions", "old_submissions")
    if op.get_bind().dialect.name == "postgresql":  # there, names of constraints belong to the schema
        for name in OLD_CONSTRAINTS:
            op.execute(f"ALTER TABLE old_submissions DROP CONSTRAINT {name} CASCADE")


def _create_classes() -> None:
    op.create_table(
        "classes",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
    )
    op.create_table(
        "memberships",
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("joined", TIME, nullable=False),
        sa.Column("ended", TIME, nullable=True),
        sa.CheckConstraint("role IN ('student', 'instructor')", name=op.f("ck_memberships_role")),
        _points_at("memberships", "user_id", "users"),
        _points_at("memberships", "class_id", "classes"),
        sa.PrimaryKeyConstraint("user_id", "class_id", name="pk_memberships"),
    )


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("finished", TIME, nullable=True),
        sa.Column("current_grading", sa.Integer, nullable=True),
        sa.Column("exercise_version", sa.String(80), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("device", sa.String(16), nullable=False),
        sa.Column("source", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("state IN ('open', 'done', 'cancelled', 'broken')", name=op.f("ck_submissions_state")),
        _points_at("submissions", "user_id", "users"),
        _points_at("submissions", "class_id", "classes"),
        sa.ForeignKeyConstraint(
            ["current_grading"], ["gradings.id"], name="fk_submissions_current_grading_gradings", ondelete="SET NULL",
            use_alter=True,
        ),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("user_id", "exercise", "number", name="uq_submissions_user_id_exercise_number"),
    )  # fmt: skip
    _index_submissions()


def _index_submissions() -> None:
    op.create_index("ix_submissions_history", "submissions", ["user_id", "created"])
    op.create_index(
        "uq_submissions_open", "submissions", ["user_id", "exercise"], unique=True,
        sqlite_where=IS_OPEN, postgresql_where=IS_OPEN,
    )  # fmt: skip


def _create_gradings() -> None:
    op.create_table(
        "gradings",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("submission_id", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("score", TIME, nullable=False),
        sa.Column("flag", sa.String(16), nullable=False),
        sa.Column("incident", sa.String(16), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("try_number", sa.Integer, nullable=False),
        sa.Column("exercise_version", sa.String(80), nullable=False),
        sa.Column("grader_version", sa.String(80), nullable=False),
        sa.Column("torch_version", sa.String(40), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("device", sa.String(16), nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        _points_at("gradings", "submission_id", "submissions"),
        sa.PrimaryKeyConstraint("id", name="pk_gradings"),
    )
    op.create_index("ix_gradings_submission_id", "gradings", ["submission_id"])
    op.create_index("ix_gradings_flag", "gradings", ["created"], sqlite_where=FLAGGED, postgresql_where=FLAGGED)
    _create_around_gradings()


def _create_around_gradings() -> None:
    op.create_table(
        "diagnoses",
        sa.Column("grading_id", sa.Integer, nullable=False),
        sa.Column("mistake", sa.String(100), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        _points_at("diagnoses", "grading_id", "gradings"),
        sa.PrimaryKeyConstraint("grading_id", "mistake", name="pk_diagnoses"),
    )
    op.create_table(
        "grading_files",
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("version", sa.String(80), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("exercise", "version", name="pk_grading_files"),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("submission_id", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("queue", sa.String(16), nullable=False),
        sa.Column("priority", sa.BigInteger, nullable=False),
        sa.Column("ready", TIME, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.Column("kills", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(40), nullable=True),
        sa.Column("claim", sa.String(40), nullable=True),
        sa.Column("started", TIME, nullable=True),
        _points_at("jobs", "submission_id", "submissions"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_jobs"),
    )
    op.create_index(
        "ix_jobs_turn", "jobs", ["queue", "priority", "submission_id"], sqlite_where=WAITING, postgresql_where=WAITING
    )


def _read_reports() -> None:
    """Store what the reports say in text alone: the mistakes that they name, and faults of ours."""
    bind = op.get_bind()
    diagnoses = sa.table("diagnoses", sa.column("grading_id"), sa.column("mistake"), sa.column("title"))
    for rows in _reports():
        named, faulty = [], []
        for id, body in rows:
            report = json.loads(body)
            titles = {one["mistake"][:100]: one["title"][:200] for one in report.get("diagnosis", ())}
            named += [{"grading_id": id, "mistake": mistake, "title": title} for mistake, title in titles.items()]
            faulty += [{"id": id, "incident": report["incident"][:16]}] if report.get("incident") else []
        if named:
            bind.execute(sa.insert(diagnoses), named)
        if faulty:
            bind.execute(sa.text("UPDATE gradings SET incident = :incident WHERE id = :id"), faulty)


def _reports() -> Iterator[list[tuple[int, str]]]:
    """Yield the gradings whose report may name a mistake or a fault, some at a time."""
    query = sa.text(
        "SELECT id, report FROM gradings WHERE id > :last"
        """ AND (report LIKE '%"diagnosis":%' OR report LIKE '%"incident":%') ORDER BY id LIMIT :most"""
    )
    last = 0
    while rows := [(id, body) for id, body in op.get_bind().execute(query, {"last": last, "most": AT_ONCE})]:
        yield rows
        last = rows[-1][0]


def _drop_roles() -> None:
    with op.batch_alter_table("users") as batch:
        batch.drop_constraint(op.f("ck_users_role"), type_="check")
        batch.drop_column("role")


def _points_at(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}_{parent}", ondelete="CASCADE")
