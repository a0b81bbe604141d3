"""Deleting a grading finds the submission that points at it by an index, and not by reading all submissions."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_submissions_current_grading", "submissions", ["current_grading"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_submissions_current_grading", "submissions")
