"""The code of a class, once the one that the installation began with was replaced."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; a class that has none yet goes on with the code of the settings or of the data directory."""
    op.add_column("classes", sa.Column("code", sa.String(80), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("classes", "code")
