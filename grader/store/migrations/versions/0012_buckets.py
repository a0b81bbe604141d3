"""Limits on how often somebody may do something, shared by several processes of pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "buckets",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("missing", sa.Float(), nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
        sa.Column("full", sa.Float(), nullable=False),
    )
    op.create_index("ix_buckets_full", "buckets", ["full"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("buckets")
