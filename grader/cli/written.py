"""Writes to files and to the terminal what others may have prepared: folders, names, what a database holds."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

import typer

from grader.judge.text import one_line


def write_anew(path: Path, content: bytes) -> bool:
    """Make `path` a new file, and return whether there was one; a link goes, and what it leads to stays as it is.

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    draft = path.parent / f".{secrets.token_hex(8)}.draft"
    try:
        with draft.open("xb") as file:  # x: nothing that is there already is opened, be it a link
            file.write(content)
        was_there = os.path.lexists(path)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
    return was_there


def said_of(path: Path, was_there: bool) -> str:
    """Return what is said of a file that was written."""
    return f"wrote {one_line(str(path))}{', in place of the one that was there' if was_there else ''}"


def echo(text: str, *, err: bool = False) -> None:
    """Write a line; a control in it, which would be obeyed by a terminal or forge another line, is written out."""
    typer.echo(one_line(text), err=err)
