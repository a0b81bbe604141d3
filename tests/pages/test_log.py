"""The log of the pages: bounded in size and number, and nobody else writes lines of it."""

from __future__ import annotations

import io
import logging

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
