"""Kept grading files are signed with the secret of the installation; those that are there stay unsigned."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. A migration does not know the secret: `grader.jobs.archive` signs."""
    op.add_column("grading_files", sa.Column("signature", sa.String(64), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("grading_files", "signature")
