"""Under which name a member of a class stands on its leaderboards; whoever is there already gets a pseudonym."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    column = sa.Column("board", sa.String(16), server_default=sa.text("'pseudonym'"), nullable=False)
    op.add_column("memberships", column)


def downgrade() -> None:
    """Drop it."""
    op.drop_column("memberships", "board")
