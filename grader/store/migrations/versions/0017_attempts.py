"""Which attempt a submission is stands in its row, and an index has all that lists go by.

Where there are many, to count the earlier ones takes long, and so does to read the rows of what is not listed.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and fill it from the gradings."""
    op.add_column("submissions", sa.Column("nth", sa.Integer, server_default=sa.text("0"), nullable=False))
    op.execute(
        """UPDATE submissions SET nth = places.nth
           FROM (SELECT s.id AS id,
                        COALESCE(SUM(CASE WHEN g.status NOT IN ('rejected', 'ungradable') AND g.incident = '' THEN 1
                                          ELSE 0 END)
                                 OVER (PARTITION BY s.user_id, s.exercise ORDER BY s.number
                                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) + 1 AS nth
                 FROM submissions s LEFT JOIN gradings g ON g.id = s.current_grading) AS places
           WHERE places.id = submissions.id"""
    )
    op.execute("UPDATE submissions SET nth = 0 WHERE state IN ('cancelled', 'broken')")
    op.execute(
        """UPDATE submissions SET nth = 0 WHERE current_grading IN
           (SELECT id FROM gradings WHERE status IN ('rejected', 'ungradable') OR incident <> '')"""
    )
    op.drop_index("ix_submissions_history", "submissions")
    op.create_index("ix_submissions_history", "submissions", ["user_id", "created", "number", "exercise", "id"])


def downgrade() -> None:
    """Undo it."""
    op.drop_index("ix_submissions_history", "submissions")
    op.create_index("ix_submissions_history", "submissions", ["user_id", "created"])
    op.drop_column("submissions", "nth")
