"""The URL of a database, read without ever showing its password."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import SettingsError

WRONG_URL = (
    "the URL of the database cannot be read; expected: postgresql://user:password@host:5432/name, with signs such as "
    "@ : / # in the password written as %40 %3A %2F %23"
)


def parse(url: str) -> URL:
    """Return the URL of a database in its parts.

    Raises:
        SettingsError: it cannot be read.
    """
    scheme, _, rest = url.partition("://")
    try:
        return make_url(f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url)
    except (ArgumentError, ValueError):
        raise SettingsError(WRONG_URL) from None  # the words of both would show the password
