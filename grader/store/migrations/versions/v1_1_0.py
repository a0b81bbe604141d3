"""Several classes with sections and assignments, and all that a class's grades follow from."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "1.1.0"
down_revision = "1.0.0"
branch_labels = None
depends_on = None

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
TIME = sa.Float(53)
WALL = sa.String(16)  # 2026-10-09T23:59
ROLES = "role IN ('student', 'assistant', 'instructor')"


def upgrade() -> None:
    """Make the new tables, and add to those that there are; the class of before gets a key."""
    tables = sa.MetaData(naming_convention=NAMES)
    tables.reflect(op.get_bind(), only=("users", "classes"))
    before = list(tables.tables.values())
    _declare_classes(tables)
    _declare_assignments(tables)
    _declare_grades(tables)
    tables.create_all(op.get_bind(), tables=[one for one in tables.sorted_tables if one not in before])
    _change_people()
    _change_work()


def _change_people() -> None:
    # Not made anew: SQLite would forget which ids were given to people who are deleted.
    op.add_column("users", _maybe("email", sa.String(254)))
    op.add_column("users", _column("administrator", sa.Boolean, server_default=sa.false()))
    op.create_index("uq_users_email", "users", ["email"], unique=True)
    with _changed("classes") as classes:
        classes.add_column(_maybe("key", sa.String(40)))
        classes.add_column(_column("zone", sa.String(64), server_default=sa.text("'UTC'")))
        classes.add_column(_column("bank", sa.Integer, server_default=sa.text("0")))
    op.execute("UPDATE classes SET key = CASE WHEN id = 1 THEN 'the-class' ELSE 'class-' || id END")
    with _changed("classes") as classes:
        classes.alter_column("key", existing_type=sa.String(40), nullable=False)
        classes.create_unique_constraint("uq_classes_key", ["key"])
    with _changed("memberships") as members:
        members.drop_constraint("role", type_="check")
        members.create_check_constraint("role", ROLES)
        for name, kind in (
            ("section", sa.String(80)), ("name", sa.String(200)), ("number", sa.String(200)),
            ("lms_id", sa.String(200)), ("sections", sa.Text),
        ):  # fmt: skip
            members.add_column(_column(name, kind, server_default=sa.text("''")))


def _change_work() -> None:
    assigned = "fk_submissions_assignment_id_assignments"
    with _changed("submissions") as submissions:
        after = "device"
        for column in (
            _maybe("assignment_id", sa.Integer), _maybe("promised_due", WALL), _maybe("promised_zone", sa.String(64)),
            _column("aside", sa.Boolean, server_default=sa.false()),
        ):  # fmt: skip
            submissions.add_column(column, **_behind(after))
            after = column.name
        submissions.drop_column("class_id")  # that of the assignment
        submissions.create_foreign_key(assigned, "assignments", ["assignment_id"], ["id"], ondelete="SET NULL")
    op.create_index("ix_submissions_assignment_id", "submissions", ["assignment_id"])
    with _changed("gradings") as gradings:
        gradings.add_column(_maybe("change_id", sa.Integer), **_behind("device"))
        gradings.create_foreign_key(
            "fk_gradings_change_id_changes", "changes", ["change_id"], ["id"], ondelete="SET NULL"
        )
    op.create_index("ix_gradings_change_id", "gradings", ["change_id"])
    with _changed("jobs") as jobs:
        jobs.alter_column("payer", existing_type=sa.String(64), server_default=sa.text("''"))  # written as it was
        jobs.add_column(_maybe("change_id", sa.Integer))
        jobs.create_foreign_key("fk_jobs_change_id_changes", "changes", ["change_id"], ["id"], ondelete="CASCADE")
    op.create_index("ix_jobs_change_id", "jobs", ["change_id"])


def _changed(table: str) -> Any:
    """Change a table where it stands, or on SQLite by making it anew: nothing else puts a column before a long one."""
    embedded = op.get_bind().dialect.name == "sqlite"
    return op.batch_alter_table(table, recreate="always" if embedded else "never", naming_convention=NAMES)


def _behind(column: str) -> dict[str, str]:
    """Return where to add a column: a Postgres adds it at the end."""
    return {"insert_after": column} if op.get_bind().dialect.name == "sqlite" else {}


def _declare_classes(tables: sa.MetaData) -> None:
    sa.Table(
        "sections",
        tables,
        _column("class_id", sa.Integer, _points_at("classes"), primary_key=True),
        _column("name", sa.String(80), primary_key=True),
    )
    sa.Table(
        "changes",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("class_id", sa.Integer, _points_at("classes")),
        _column("key", sa.String(40)),
        _column("exercise", sa.String(100)),
        _column("keep", sa.String(16)),
        _column("reason", sa.Text),
        _maybe("by", sa.Integer, _names("users"), index=True),
        _column("made", TIME),
        _column("state", sa.String(16)),
        _maybe("ended", TIME),
        _column("seen", sa.Text),
        sa.UniqueConstraint("class_id", "key"),
    )
    sa.Table(
        "audit",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _maybe("class_id", sa.Integer, _points_at("classes")),
        _column("at", TIME),
        _column("by", sa.String(254)),
        _column("do", sa.String(16)),
        _column("subject", sa.String(300)),
        _column("ok", sa.Boolean),
        _column("before", sa.Text),
        _column("after", sa.Text),
        _column("reason", sa.Text),
        sa.Index("ix_audit_class", "class_id", "id"),
    )
    sa.Table(
        "notices",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("user_id", sa.Integer, _points_at("users"), index=True),
        _maybe("change_id", sa.Integer, _points_at("changes"), index=True),
        _column("at", TIME),
        _maybe("read", TIME),
        _column("text", sa.Text),
    )
    sa.Table(
        "given_versions",
        tables,
        _column("exercise", sa.String(100), primary_key=True),
        _column("version", sa.String(80)),
    )


def _declare_assignments(tables: sa.MetaData) -> None:
    sa.Table(
        "assignments",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("class_id", sa.Integer, _points_at("classes")),
        _column("key", sa.String(40)),
        _column("title", sa.String(200)),
        _column("opens", WALL),
        _column("due", WALL),
        _column("grace", sa.Integer),
        _column("per_day", sa.Integer),
        _column("at_most", sa.Integer),
        _column("share_of", sa.String(16)),
        _column("bank_max", sa.Integer),
        _maybe("cutoff", sa.Integer),
        _column("count", sa.String(16)),
        _maybe("attempts", sa.Integer),
        _column("show", sa.String(20)),
        _column("show_checks", sa.Text),
        _maybe("published", TIME),
        _column("revision", sa.Integer),
        sa.UniqueConstraint("class_id", "key"),
        sqlite_autoincrement=True,
    )
    sa.Table(
        "assignment_items",
        tables,
        _column("assignment_id", sa.Integer, _points_at("assignments"), primary_key=True),
        _column("exercise", sa.String(100), primary_key=True),
        _column("position", sa.Integer),
        _column("weight", sa.Integer),
    )
    sa.Table(
        "section_dues",
        tables,
        _column("assignment_id", sa.Integer, _points_at("assignments"), primary_key=True),
        _column("section", sa.String(80), primary_key=True),
        _column("due", WALL),
    )
    sa.Table(
        "held",
        tables,
        _column("assignment_id", sa.Integer, _points_at("assignments"), primary_key=True),
        _column("user_id", sa.Integer, _points_at("users"), primary_key=True, index=True),
    )


def _declare_grades(tables: sa.MetaData) -> None:
    sa.Table(
        "exceptions",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("class_id", sa.Integer, _points_at("classes")),
        _column("user_id", sa.Integer, _points_at("users"), index=True),
        _maybe("assignment_id", sa.Integer, _points_at("assignments"), index=True),
        _column("field", sa.String(16)),
        _maybe("value", sa.String(16)),
        _column("reason", sa.Text),
        _maybe("by", sa.Integer, _names("users"), index=True),
        _column("at", TIME),
        sa.Index("ix_exceptions_person", "class_id", "user_id"),
    )
    sa.Table(
        "overrides",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("assignment_id", sa.Integer, _points_at("assignments")),
        _column("user_id", sa.Integer, _points_at("users"), index=True),
        _maybe("points", sa.Integer),
        _column("reason", sa.Text),
        _maybe("by", sa.Integer, _names("users"), index=True),
        _column("at", TIME),
        sa.Index("ix_overrides_cell", "assignment_id", "user_id"),
    )
    sa.Table(
        "comments",
        tables,
        _column("id", sa.Integer, primary_key=True),
        _column("assignment_id", sa.Integer, _points_at("assignments")),
        _column("user_id", sa.Integer, _points_at("users"), index=True),
        _maybe("by", sa.Integer, _names("users"), index=True),
        _column("at", TIME),
        _column("shown", sa.Boolean),
        _column("text", sa.Text),
        sa.Index("ix_comments_cell", "assignment_id", "user_id"),
    )


def _column(name: str, kind: Any, *more: Any, **options: Any) -> sa.Column[Any]:
    """Return a column that must hold something."""
    return sa.Column(name, kind, *more, **{"nullable": False, **options})


def _maybe(name: str, kind: Any, *more: Any, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, *more, nullable=True, **options)


def _points_at(parent: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{parent}.id", ondelete="CASCADE")


def _names(parent: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{parent}.id", ondelete="SET NULL")
