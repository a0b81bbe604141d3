"""The log of the pages: bounded in size and number, and nobody else writes lines of it."""

from __future__ import annotations

import io
import json
import logging
import sys
import unicodedata

import pytest

from grader.errors import logged_for, record
from grader.log import BURST, LONGEST, SECONDS_EACH, Form, Sparing
from tests.service.conftest import Clock


def journal(clock: Clock, form: Form = "text") -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    log = logging.Logger("pages")
    log.addHandler(Sparing(stream, form=form, clock=clock))
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


def test_an_entry_says_which_submission_it_is_about() -> None:
    """Inside of the block only, and a stranger's id is cut and cleaned like all that strangers say."""
    log, stream = journal(Clock())
    with logged_for("0a1b"):
        log.error("one")
    with logged_for("x\ny" * 1000):
        log.error("two")
    log.error("three")

    first, second, third = stream.getvalue().splitlines()
    assert first.endswith("ERROR one [submission 0a1b]")
    assert r"two [submission x\nyx\ny" in second
    assert len(second) < 200
    assert third.endswith("ERROR three")


def test_json_lines_hold_what_people_read_in_fields() -> None:
    """When, how bad, whose, which submission and incident, what and the trace; nothing else that a record carries."""
    log, stream = journal(Clock(), "json")
    with logged_for("0a1b"):
        incident = record(log, "it broke", ValueError("why"))
    log.error("on its own", extra={"password": "hush"})

    broke, alone = map(json.loads, stream.getvalue().splitlines())
    assert (broke["submission"], broke["incident"], broke["level"]) == ("0a1b", incident, "ERROR")
    assert broke["message"] == f"incident {incident}: it broke: ValueError('why')"
    assert broke["trace"] == "ValueError: why"
    assert set(alone) == {"time", "level", "logger", "process", "message"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_character_turns_or_hides_a_line(form: Form) -> None:
    """Of all that Unicode calls a control, a format, a half or a separator of lines, none gets into the log."""
    found = [
        c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    log, stream = journal(Clock(), form)
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_entries_without_end_are_counted_and_not_written(form: Form) -> None:
    """A flood writes a bounded number of bytes, and then one entry that says how many are missing."""
    clock = Clock()
    log, stream = journal(clock, form)
    for _ in range(3000):
        log.error("x" * 100)
    written = len(stream.getvalue())
    clock.now += 1000 * SECONDS_EACH
    with logged_for("0a1b"):
        log.error("the next one")

    note, last = stream.getvalue()[written:].splitlines()
    assert BURST - 300 < written < BURST + 300 + 3000
    assert "entries were left out here" in note
    assert ("0a1b" in note, "0a1b" in last, "the next one" in last) == (False, True, True)
