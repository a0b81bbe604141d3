"""Runs one command, and turns every failure into one clear line and an exit code.

Exit codes: 0 it was done; 1 something is wrong, of the grader's or with an exercise; 2 it was asked for wrongly.
"""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import typer

from grader.cli import class_, data, exercises, grade, operations
from grader.errors import DatabaseUnusable, GraderFault, NotAllowed, SandboxUnavailable, SettingsError
from grader.judge.text import one_line
from grader.local import WrongUse

WRONG, MISUSED, INTERRUPTED = 1, 2, 130
_UNMAPPED = ("failed to map segment", "cannot allocate memory")  # so the loader of libraries says it
_NO_MEMORY = "there is too little memory for this command here; `ulimit -v` shows a limit on it, if there is one"
_LACKS = {
    errno.ENOMEM: _NO_MEMORY,
    errno.EMFILE: "this process may have too few open files; `ulimit -n` shows how many; raise that",
    errno.ENFILE: "this machine has no room for another open file; close other programs",
    errno.EAGAIN: "nobody reads the output, or no more processes can be started; `ulimit -u` shows how many",
    errno.ENOSPC: "there is no space left on the disk",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "this process may write too little into a file; `ulimit -f` shows how much",
}


def make_app() -> typer.Typer:
    """Return the whole command line."""
    app = typer.Typer(
        name="attention-gym",
        help="Grade attention exercises in PyTorch, on your own machine or for a class.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    grade.add_to(app)
    app.add_typer(exercises.make_app(), name="exercise")
    app.add_typer(class_.make_app(), name="class")
    operations.add_to(app)
    data.add_to(app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of this process if left out."""
    _write_whatever_it_is()
    given = list(sys.argv[1:] if arguments is None else arguments)
    say = partial(_say, given)
    try:
        code = make_app()(args=given or ["--help"], prog_name="attention-gym", standalone_mode=False)
    except (WrongUse, NotAllowed, SettingsError) as refusal:
        return say(str(refusal), MISUSED)
    except typer.TyperException as misuse:
        return say(f"{misuse.format_message().rstrip('.')}; see `attention-gym --help`", MISUSED)
    except (SandboxUnavailable, DatabaseUnusable) as reason:
        return say(str(reason), WRONG)
    except GraderFault as fault:
        return say(f"Sorry, this is our fault and not your code's: {fault}", WRONG)
    except typer.Abort:
        return say("stopped", INTERRUPTED)
    except UnicodeEncodeError as refused:  # bytes of the command line that are no text
        return say(f"{refused.object!r} is no UTF-8 text", MISUSED)
    except (OSError, MemoryError, ImportError) as refused:
        if not (lack := _lacking(refused)):
            raise
        return say(lack, WRONG)
    if not given:
        return say("name a command; the help above lists them", MISUSED)
    return code if isinstance(code, int) else 0


def _lacking(refused: Exception) -> str:
    """Return what the system has refused this process, or which file that is there; nothing for any other reason."""
    if isinstance(refused, OSError):
        there = refused.filename and not isinstance(refused, FileNotFoundError)  # else one of ours may be missing
        named = f"{refused.filename!r} cannot be used: {refused.strerror}" if there else ""
        return _LACKS.get(refused.errno or 0, named)
    without_memory = isinstance(refused, MemoryError) or any(text in str(refused) for text in _UNMAPPED)
    return _NO_MEMORY if without_memory else ""


def _say(given: Sequence[str], text: str, code: int) -> int:
    for word in given:
        scheme, _, rest = word.partition("://")
        if rest:  # the address of a database at a wrong place; it may hold a password, with signs that are shown anyhow
            before, begins, _ = text.partition(f"{scheme}://{rest[:2]}")
            text = f"{before}(an address, not shown)" if begins else text
    with suppress(OSError, AttributeError):  # closed or full; the exit code says it too
        sys.stderr.write(one_line(" ".join(text.split())) + "\n")
        sys.stderr.flush()
    return code


def _write_whatever_it_is() -> None:
    """Let a terminal that lacks a character show a question mark instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
