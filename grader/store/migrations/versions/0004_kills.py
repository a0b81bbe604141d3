"""How often what ran a submission was killed. Older ones begin at none: nobody counted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, 0 for every submission there is."""
    op.add_column("submissions", sa.Column("kills", sa.Integer(), server_default=sa.text("0"), nullable=False))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("submissions", "kills")
