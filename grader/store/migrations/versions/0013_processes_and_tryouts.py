"""Processes of several machines, and what is tried on a machine that has no sandbox."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "processes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("machine", sa.String(16), nullable=False),
        sa.Column("slots", sa.Text(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("heard", sa.Float(), nullable=False),
    )
    op.create_table(
        "tryouts",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("tryouts")
    op.drop_table("processes")
