"""The URL of a database, read without ever showing its password."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import SettingsError

WRONG_URL = (
    "the URL of the database cannot be read; expected: postgresql://user:password@host:5432/name, with signs such as "
    "@ : / # in the password written as %40 %3A %2F %23"
)
OTHER_KIND = (
    "a database is a SQLite file or a Postgres; expected: sqlite:///file or postgresql://user:password@host/name"
)


def parse(url: str) -> URL:
    """Return the URL of a database in its parts.

    Raises:
        SettingsError: it cannot be read, or means no database that is supported.
    """
    scheme, _, rest = url.partition("://")
    if scheme.startswith("postgres") and _is_cut_short(rest):
        raise SettingsError(WRONG_URL)  # else a part of the password is taken for a host, which messages name
    try:
        made = make_url(f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url)
    except (ArgumentError, ValueError):
        raise SettingsError(WRONG_URL) from None  # the words of both would show the password
    if made.drivername not in ("postgresql+psycopg", "sqlite"):
        raise SettingsError(f"{OTHER_KIND}; seen: another kind of address")
    if made.drivername == "sqlite" and made.database in (None, "", ":memory:"):
        raise SettingsError(f"{OTHER_KIND}; seen: sqlite: without a file")
    # SQLite's own addresses can mean memory, or a file whose modes and locks we would not know of.
    if made.drivername == "sqlite" and (made.query or str(made.database).startswith("file:")):
        raise SettingsError(f"{OTHER_KIND}; seen: sqlite: with options, or with an address in place of a file")
    return made


def _is_cut_short(rest: str) -> bool:
    """Whether a sign of a password ends it too early, or a zero the whole address, as it does in the driver."""
    before, at, _ = rest.rpartition("@")
    return any(sign in rest for sign in ("#", "%00", "\0")) or (bool(at) and any(sign in before for sign in "@/?"))
