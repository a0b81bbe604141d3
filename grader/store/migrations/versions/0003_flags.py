"""What instructors are to look at among the reports. Older ones stay without: nobody looked for it then."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FLAGGED = sa.text("flag <> ''")


def upgrade() -> None:
    """Add the column, empty for every report there is, and an index of those that are not."""
    op.add_column("reports", sa.Column("flag", sa.String(16), server_default=sa.text("''"), nullable=False))
    op.create_index("ix_reports_flag", "reports", ["created"], sqlite_where=FLAGGED, postgresql_where=FLAGGED)


def downgrade() -> None:
    """Drop both."""
    op.drop_index("ix_reports_flag", "reports")
    op.drop_column("reports", "flag")
