"""The log of the pages: bounded in size and number, and nobody else writes lines of it."""

from __future__ import annotations

import io
import logging
import sys
import unicodedata

from grader.pages.log import BURST, LONGEST, SECONDS_EACH, Sparing
from tests.service.conftest import Clock


def journal(clock: Clock) -> tuple[logging.Logger, io.StringIO]:
    """Return a logger with our handler, and what it has written."""
    stream = io.StringIO()
    log = logging.Logger("pages")
    log.addHandler(Sparing(stream, clock=clock))
    return log, stream


def test_an_entry_is_bounded_and_on_lines_of_its_own() -> None:
    """A stranger's text begins no line and sends no codes; of a long trace the beginning and the end are kept."""
    log, stream = journal(Clock())
    log.error("incident %s", "a\n2026-01-01 ERROR forged\r\x1b[2J\ud800\u2028é")
    try:
        raise ValueError("b\n2026-01-01 ERROR forged" * 1000 + "the end")
    except ValueError as fault:
        log.error("broke", exc_info=fault)

    lines = stream.getvalue().splitlines()
    assert lines[0].endswith(r"incident a\n2026-01-01 ERROR forged\r\x1b[2J\ud800\u2028é")
    assert [line for line in lines[2:] if not line.startswith("  ")] == []
    assert lines[-1].endswith("the end")
    assert len(stream.getvalue()) < 2 * LONGEST


def test_no_character_turns_or_hides_a_line() -> None:
    """Of all that Unicode calls a control, a format, a half or a separator of lines, none gets into the log."""
    found = [
        c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    log, stream = journal(Clock())
    for start in range(0, len(found), 200):
        log.error("".join(found[start : start + 200]))
    written = set(stream.getvalue())

    assert len(found) > 2000
    assert written & set(found) <= {"\n", "\t"}


def test_the_noise_of_strangers_leaves_room_for_incidents() -> None:
    """Whoever sends what is no HTTP uses up the share of the server's own entries, and not that of our incidents."""
    stream = io.StringIO()
    handler = Sparing(stream, clock=Clock())
    server, ours = logging.Logger("uvicorn.error"), logging.Logger("grader.errors")
    server.addHandler(handler)
    ours.addHandler(handler)
    for _ in range(3000):
        server.warning("Invalid HTTP request received.")
    ours.error("incident 1234abcd")

    assert "incident 1234abcd" in stream.getvalue()


def test_entries_without_end_are_counted_and_not_written() -> None:
    """A flood writes a bounded number of bytes, and then one line that says how many entries are missing."""
    clock = Clock()
    log, stream = journal(clock)
    for _ in range(3000):
        log.error("x" * 100)
    written = len(stream.getvalue())
    clock.now += 1000 * SECONDS_EACH
    log.error("the next one")

    assert BURST - 200 < written < BURST + 200 + 3000
    assert "entries were left out here" in stream.getvalue()[written:]
    assert stream.getvalue().endswith("the next one\n")
