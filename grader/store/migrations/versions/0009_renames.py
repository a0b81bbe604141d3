"""How often each person was renamed, by which a process notices that a name it has read is another one now."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, 0 for everybody there is."""
    op.add_column("users", sa.Column("renames", sa.Integer(), server_default=sa.text("0"), nullable=False))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("users", "renames")
