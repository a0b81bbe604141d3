"""Where submissions, people and reports are kept: SQLite in WAL mode, or Postgres."""
