"""How often each mistake was diagnosed in a person's work, counted with each report."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Times = dict[tuple[int, str, str], tuple[str, int]]  # by person, exercise and mistake: its title and how often


def upgrade() -> None:
    """Make the table, and count what the stored reports say."""
    table = op.create_table(
        "mistakes",
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("exercise", sa.String(100), nullable=False),
        sa.Column("mistake", sa.String(100), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("times", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_mistakes_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "exercise", "mistake", name="pk_mistakes"),
    )
    rows = [
        {"user_id": user, "exercise": exercise, "mistake": mistake, "title": title, "times": times}
        for (user, exercise, mistake), (title, times) in _counted().items()
    ]
    if rows:
        op.bulk_insert(table, rows)


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("mistakes")


def _counted() -> Times:
    query = sa.text(
        "SELECT s.user_id, s.exercise, r.body FROM reports r JOIN submissions s ON s.id = r.submission_id"
        " WHERE s.state = 'done' ORDER BY r.created"
    )
    counted: Times = {}
    for user, exercise, body in op.get_bind().execute(query):
        for one in json.loads(body).get("diagnosis", []):
            key = (user, exercise, one["mistake"][:100])
            counted[key] = (one["title"][:200], counted.get(key, ("", 0))[1] + 1)
    return counted
