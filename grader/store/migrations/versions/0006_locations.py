"""Where an answer begins to differ from the reference, for lists; read out of the reports that there are."""

from __future__ import annotations

import json
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

AT_ONCE = 1000  # rows


def upgrade() -> None:
    """Make the table, and fill it."""
    locations = op.create_table(
        "locations",
        sa.Column("grading_id", sa.Integer, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.ForeignKeyConstraint(
            ["grading_id"], ["gradings.id"], name="fk_locations_grading_id_gradings", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("grading_id", name="pk_locations"),
    )
    for rows in _reports():
        told = [(id, json.loads(body).get("location")) for id, body in rows]
        found = [{"grading_id": id, "title": location["title"][:200]} for id, location in told if location]
        if found:
            op.get_bind().execute(sa.insert(locations), found)


def downgrade() -> None:
    """Drop it."""
    op.drop_table("locations")


def _reports() -> Iterator[list[tuple[int, str]]]:
    """Yield the gradings whose report may say where it begins, some at a time."""
    query = sa.text(
        "SELECT id, report FROM gradings WHERE id > :last"
        """ AND report LIKE '%"location":%' ORDER BY id LIMIT :most"""
    )
    last = 0
    while rows := [(id, body) for id, body in op.get_bind().execute(query, {"last": last, "most": AT_ONCE})]:
        yield rows
        last = rows[-1][0]
