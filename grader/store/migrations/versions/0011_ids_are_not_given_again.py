"""The id of a deleted person is given to nobody else; on Postgres the first class's id is one that was given."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rebuild the table on SQLite, which else gives the highest id again; set a sequence on Postgres."""
    if op.get_bind().dialect.name != "sqlite":
        op.execute("SELECT setval(pg_get_serial_sequence('classes', 'id'), (SELECT max(id) FROM classes))")
        return
    with op.batch_alter_table("users", recreate="always", table_kwargs={"sqlite_autoincrement": True}):
        pass


def downgrade() -> None:
    """Rebuild the table as it was."""
    if op.get_bind().dialect.name == "sqlite":
        with op.batch_alter_table("users", recreate="always", table_kwargs={"sqlite_autoincrement": False}):
            pass
