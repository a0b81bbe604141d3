"""The settings."""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import grader.pages
import grader.service
import grader.store
from grader.errors import SettingsError
from grader.settings import DATABASE, FLEETING, Settings, default_data, lost_at_a_restart
from grader.store import private
from grader.store.private import parse_url


def test_an_empty_environment_serves_on_loopback() -> None:
    """Without any variable the page is for this machine only."""
    settings = Settings.from_environment({})

    assert (settings.host, settings.port, settings.cookie_secure, settings.allow_one_wall) == (
        "127.0.0.1", 7860, False, False,
    )  # fmt: skip


def test_a_hosting_space_is_served_to_everybody_over_https() -> None:
    """There the platform's proxy is in front, and the cookie is for HTTPS only."""
    settings = Settings.from_environment({"SPACE_ID": "class/gym"})

    assert (settings.host, settings.cookie_secure) == ("0.0.0.0", True)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "accounts and submissions are lost"),
        ({"DATABASE_URL": "postgresql://db/gym"}, "set ATTENTION_GYM_SECRET and ATTENTION_GYM_CLASS_CODE, which"),
        ({"DATABASE_URL": "postgresql://db/gym", "CLASS_CODE": "green-tree-house"}, "set ATTENTION_GYM_SECRET, which"),
        ({"DATABASE_URL": "postgresql://db/gym", "CLASS_CODE": "green-tree-house", "SECRET": "s" * 32}, ""),
        ({"DATA": "/data/attention_gym"}, ""),
    ],
    ids=["nothing is kept", "neither secret nor code", "no secret", "all of it is elsewhere", "there is a disk"],
)
def test_a_space_without_a_disk_is_told_what_it_forgets(chosen: dict[str, str], words: str) -> None:
    """With what helps; somewhere else nothing is said, where a container's folder may well be kept."""
    environment = {"SPACE_ID": "class/gym", "ATTENTION_GYM_DATA": str(FLEETING)}
    environment |= {f"ATTENTION_GYM_{name}": value for name, value in chosen.items()}
    settings = Settings.from_environment(environment)

    said = lost_at_a_restart(settings, environment)
    assert words in said
    assert bool(said) == bool(words)
    assert lost_at_a_restart(settings, {}) == ""


CHOSEN: dict[str, tuple[str, object]] = {
    "data": ("/srv/gym", Path("/srv/gym")), "database_url": ("postgresql://db/gym", "postgresql://db/gym"),
    "host": ("::1", "::1"), "port": ("80", 80), "slots": ("3", 3), "gpu_slots": ("0", 0), "memory_mib": ("2048", 2048),
    "allowed_hosts": ("Gym.Example.org, *.school.edu", ("gym.example.org", "*.school.edu")),
    "class_code": ("green-tree-house", "green-tree-house"), "secret": ("s" * 32, "s" * 32),
    "metrics_token": ("m" * 32, "m" * 32), "allow_one_wall": ("yes", True), "allow_open_data": ("yes", True),
    "proxies": ("10.0.0.7, 172.30.77.9/24,::1", ("10.0.0.7/32", "172.30.77.0/24", "::1/128")),
    "cookie_secure": ("on", True), "source_kib": ("64", 64), "session_hours": ("1.5", 1.5), "drain_seconds": ("0", 0.0),
    "connections": ("4096", 4096), "connections_each": ("500", 500), "slowest_reader": ("256", 256),
    "log_format": ("json", "json"),
}  # fmt: skip


def test_every_variable_arrives() -> None:
    """A value given is the value used; a new setting is added to the list above."""
    settings = Settings.from_environment({f"ATTENTION_GYM_{name.upper()}": text for name, (text, _) in CHOSEN.items()})

    assert CHOSEN.keys() == {field.name for field in fields(Settings)}
    assert settings == Settings(**{name: value for name, (_, value) in CHOSEN.items()})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PORT", "http", "ATTENTION_GYM_PORT is 'http'; expected: an integer from 1 to 65535"),
        ("PORT", "70000", "ATTENTION_GYM_PORT is '70000'; expected: an integer from 1 to 65535"),
        ("ALLOWED_HOSTS", "http://gym", "ATTENTION_GYM_ALLOWED_HOSTS is 'http://gym'; expected: names such as"),
        ("SLOTS", "0", "ATTENTION_GYM_SLOTS is '0'; expected: an integer from 1 to 256"),
        ("SLOTS", "2.5", "ATTENTION_GYM_SLOTS is '2.5'; expected: an integer from 1 to 256"),
        ("MEMORY_MIB", "1", "ATTENTION_GYM_MEMORY_MIB is '1'; expected: an integer from 1024 to 16777216"),
        ("SESSION_HOURS", "nan", "ATTENTION_GYM_SESSION_HOURS is 'nan'; expected: a number from 0.1 to 720"),
        ("COOKIE_SECURE", "maybe", "ATTENTION_GYM_COOKIE_SECURE is 'maybe'; expected: yes or no"),
        ("PROXIES", "proxy", "ATTENTION_GYM_PROXIES is 'proxy'; expected: addresses and networks such as 10.0.0.7"),
        ("PROXIES", "0.0.0.0/0", "ATTENTION_GYM_PROXIES is '0.0.0.0/0'; expected: addresses and networks such as"),
        ("LOG_FORMAT", "xml", "ATTENTION_GYM_LOG_FORMAT is 'xml'; expected: text or json"),
        ("CLASS_CODE", "tree-42", "ATTENTION_GYM_CLASS_CODE is (not shown); expected: 12 characters or more"),
        ("SECRET", "short", "ATTENTION_GYM_SECRET is (not shown); expected: 32 characters or more"),
        ("METRICS_TOKEN", "a b" * 20, "ATTENTION_GYM_METRICS_TOKEN is (not shown); expected: 32 to 128 letters"),
        ("DATABASE_URL", "mysql://a:b@c", "ATTENTION_GYM_DATABASE_URL is (not shown); expected: sqlite:///… or"),
    ],
)
def test_a_wrong_value_is_named_with_the_expected_form(name: str, value: str, message: str) -> None:
    """Variable, value, expected form; never the value of a secret."""
    with pytest.raises(SettingsError) as fault:
        Settings.from_environment({f"ATTENTION_GYM_{name}": value})

    assert str(fault.value).startswith(message)
    assert len(str(fault.value).splitlines()) == 1


@pytest.mark.parametrize("code", ["tree-42-oak", "aaaaaaaaaaaa", "abcabcabcabc", "123456789012", "lkjihgfedcba"])
def test_a_class_code_that_is_easy_to_guess_is_refused(code: str) -> None:
    """Wrong codes are not slowed down, so a short one, few characters in turn or a sequence would be found."""
    with pytest.raises(
        SettingsError, match=r"CLASS_CODE is \(not shown\); expected: 12 characters or more, 6 different"
    ):
        Settings.from_environment({"ATTENTION_GYM_CLASS_CODE": code})


@pytest.mark.parametrize("name", ["SECRET", "CLASS_CODE", "METRICS_TOKEN", "DATABASE_URL"])
def test_a_wrong_secret_is_in_no_trace(name: str) -> None:
    """Nor in what the error came from, which a log would write as well."""
    hush = "\N{SNOWMAN}" * 3
    with pytest.raises(SettingsError) as fault:
        Settings.from_environment({f"ATTENTION_GYM_{name}": hush})

    assert hush not in "".join(traceback.format_exception(fault.value))


def test_a_misspelt_variable_is_not_passed_over() -> None:
    """A setting that has no effect is told at the start, not found out later."""
    with pytest.raises(SettingsError, match="ATTENTION_GYM_PROT is no setting"):
        Settings.from_environment({"ATTENTION_GYM_PROT": "80"})


def test_secrets_are_not_shown() -> None:
    """The representation may go to a log."""
    settings = Settings(
        class_code="green-tree", secret="hush" * 8, metrics_token="mum" * 11, database_url="postgresql://me:pass@db/gym"
    )

    assert not any(word in repr(settings) for word in ("green-tree", "hush", "mum", "pass"))


def test_data_on_a_shared_disk_has_a_directory_of_its_own(tmp_path: Path) -> None:
    """Unless a database lies there already from before; without such a disk it is here."""
    fresh, nowhere = default_data(tmp_path), default_data(tmp_path / "nowhere")
    (tmp_path / DATABASE).touch()

    assert (fresh, nowhere, default_data(tmp_path)) == (tmp_path / "attention_gym", Path("var"), tmp_path)


SECRET = re.compile("password|secret|class_code|token|^key$|raw|seed|database_url")
PACKAGES = (grader.service, grader.store, grader.pages)


def _dataclasses() -> Iterator[type[Any]]:
    names = [module.name for one in PACKAGES for module in pkgutil.iter_modules(one.__path__, f"{one.__name__}.")]
    for name in ["grader.settings", *names]:
        module = importlib.import_module(name)
        yield from (
            kind
            for kind in vars(module).values()
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == name
        )


def test_no_representation_shows_a_secret() -> None:
    """Whatever class holds one: an exception, a log line or a debugger may show any of them."""
    kinds = list(_dataclasses())
    generated = [kind for kind in kinds if hasattr(kind.__repr__, "__wrapped__")]
    shown = {
        f"{kind.__name__}.{field.name}"
        for kind in generated
        for field in fields(kind)
        if field.repr and SECRET.search(field.name)
    }

    assert {"Settings", "Submission", "BrowserTokens", "Rules", "Credentials"} <= {kind.__name__ for kind in kinds}
    assert shown == {"SchoolClass.key", "Change.key"}, "these keys are part of addresses, and open nothing"


def test_reading_makes_nothing(tmp_path: Path) -> None:
    """Looking at the settings leaves the disk alone."""
    Settings.from_environment({"ATTENTION_GYM_DATA": str(tmp_path / "new")})

    assert list(tmp_path.iterdir()) == []


OF_A_CONNECTION = ["timeout", "detect_types", "isolation_level", "check_same_thread", "factory", "cached_statements"]
OF_AN_ADDRESS = ["uri", "mode", "cache", "vfs", "immutable", "nolock", "psow", "foo"]  # as SQLite's own have them


@pytest.mark.parametrize("place", ["file", "/a/file", "file:a", "file::memory:", "file:///a"])
@pytest.mark.parametrize("option", ["", *(f"?{name}=true" for name in [*OF_A_CONNECTION, *OF_AN_ADDRESS])])
def test_the_address_of_a_sqlite_file_is_a_file_and_nothing_else(place: str, option: str) -> None:
    """With options it can be in memory, open to other users of the machine, or locked for nobody; some are a trace."""
    if option or place.startswith("file:"):
        with pytest.raises(SettingsError, match="with options, or with an address"):
            parse_url(f"sqlite:///{place}{option}")
    else:
        assert parse_url(f"sqlite:///{place}").database == place


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8))
@example("a?b=c")
@example("a%41")
@example("a:b@c#d")
@example("\udcff")  # a byte that is no UTF-8
def test_the_database_lies_in_the_data_folder_whatever_that_is_called(name: str) -> None:
    """A `?` in its name cut the path short, so the database was made beside the folder."""
    folder = Path("/data") / name / "x"

    assert private.file_of(Settings(data=folder).store_url) == folder / DATABASE
