"""Who is charged for the time that a job takes: a member of the class, or a household outside of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Jobs that wait already are charged to the person: nobody has noted an address."""
    op.add_column("jobs", sa.Column("payer", sa.String(64), server_default=sa.text("''"), nullable=False))
    owner = "SELECT user_id FROM submissions WHERE submissions.id = jobs.submission_id"
    op.execute(f"UPDATE jobs SET payer = 'user ' || ({owner})")


def downgrade() -> None:
    """Drop it."""
    op.drop_column("jobs", "payer")
