"""The password in the address of a database is shown by no command, whatever characters it has."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import ProgrammingError

from grader.cli.main import main
from grader.errors import SettingsError
from grader.jobs.cluster.library import conninfo
from grader.store.private import parse_url
from tests.commands import process_kept

PARTS = ("Kqxzvw", "Jyhgfb", "Wtrdns")  # of each password; no word of ours has one of them
ANY = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=4)
SIGNS = st.text("@/#?:%&=[]\\'\" \n%0", max_size=3)  # those that mean something in an address
BETWEEN = st.tuples(ANY | SIGNS, ANY | SIGNS)
PASSWORDS = BETWEEN.map(lambda between: PARTS[0] + between[0] + PARTS[1] + between[1] + PARTS[2])
COMMANDS = (
    ("class-code",),
    ("user", "add", "Ada", "--password-stdin"),
    ("user", "reset", "Ada"),
    ("status",),
    ("regrade", "0" * 24),
    ("rebuild",),
    ("backup", "kept.backup"),
    ("restore", "kept.backup"),
    ("worker",),
    ("move", "--to", "{url}"),
    ("move", "{url}"),
    ("move", "--too={url}"),
    ("{url}",),
    ("status", "{url}"),
    ("regrade", "{url}"),
)


def _addresses(password: str) -> tuple[str, ...]:
    escaped = quote(password, safe="")
    return (
        f"postgresql://gym:{password}@127.0.0.1:1/gym",
        f"postgresql://gym:{escaped}@127.0.0.1:1/gym",
        f"postgresql://127.0.0.1:1/gym?user=gym&password={escaped}",
        f"mysql://gym:{password}@127.0.0.1:1/gym",
    )


def _shown(command: tuple[str, ...], address: str) -> str:
    """Return all that a command writes and logs, or by which it ends, where the database has this address."""
    shown = StringIO()
    handler = logging.StreamHandler(shown)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stdout(shown), redirect_stderr(shown), process_kept(), pytest.MonkeyPatch.context() as patched:
            patched.setenv("DATABASE_URL", address)
            main([word.format(url=address) for word in command])
    except BaseException as end:  # noqa: BLE001 - a traceback would show its text as well
        shown.write(f"{end!r} {end.__cause__!r}")
    finally:
        logging.getLogger().removeHandler(handler)
    return shown.getvalue()


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTENTION_GYM_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(max_examples=4, deadline=None, derandomize=True)
@example("Kqxzvw@Jyhgfb/Wtrdns")
@example("Kqxzvw/Jyhgfb#Wtrdns")
@example("Kqxzvw#Jyhgfb?Wtrdns")
@example("Kqxzvw\0Jyhgfb%00Wtrdns")
@given(PASSWORDS)
def test_no_command_shows_a_part_of_the_password(command: tuple[str, ...], password: str) -> None:
    """Neither escaped nor as it is, neither as a setting nor where a person has typed it at a wrong place."""
    for address in _addresses(password):
        if "\0" not in address:  # no variable and no argument can hold one
            shown = _shown(command, address)
            assert [part for part in PARTS if part in shown] == [], (address, shown)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(PASSWORDS)
def test_an_address_is_either_understood_or_refused(password: str) -> None:
    """An unescaped sign never moves the end of the password, so that a part of it is taken for a host."""
    for address in _addresses(password)[:3]:
        refusals = []
        try:
            url = parse_url(address)
            assert (url.host, url.port, url.database) == ("127.0.0.1", 1, "gym")
            conninfo(url)
        except (SettingsError, ProgrammingError) as refusal:
            refusals.append(str(refusal))
        assert [part for part in PARTS if part in " ".join(refusals)] == []
