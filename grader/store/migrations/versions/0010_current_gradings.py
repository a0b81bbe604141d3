"""On Postgres, the key from a submission to its current grading; SQLite has had it from the beginning of the table."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
NAME = "fk_submissions_current_grading_gradings"


def upgrade() -> None:
    """Add the key."""
    if op.get_bind().dialect.name != "sqlite":
        op.create_foreign_key(NAME, "submissions", "gradings", ["current_grading"], ["id"], ondelete="SET NULL")


def downgrade() -> None:
    """Drop it."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint(NAME, "submissions")
