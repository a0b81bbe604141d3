"""The engine on several machines: Postgres holds the tables, Procrastinate delivers the jobs."""
