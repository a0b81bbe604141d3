"""Alembic's entry: runs the migrations on the connection that `grader.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from grader.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
