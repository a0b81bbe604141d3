"""The secret, the class code and the seeds."""

from __future__ import annotations

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.errors import SettingsError
from grader.store import keys
from grader.store.records import SubmissionId


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    """The second call reads what the first one wrote, and nobody else may."""
    first = keys.secret(tmp_path / "new")

    assert keys.secret(tmp_path / "new") == first
    assert stat.S_IMODE((tmp_path / "new" / "secret").stat().st_mode) == 0o600


def test_those_who_ask_at_the_same_time_get_the_same_code(tmp_path: Path) -> None:
    """Two processes that start at once agree on one code and leave one file."""
    with ThreadPoolExecutor(8) as pool:
        codes = set(pool.map(keys.class_code, [tmp_path] * 32))

    assert len(codes) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["class_code"]


@pytest.mark.parametrize(("name", "read"), [("secret", keys.secret), ("class_code", keys.class_code)])
def test_what_was_emptied_is_not_used(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    """An empty code would let everybody in, an empty secret foretell every seed."""
    (tmp_path / name).write_text("\n")
    with pytest.raises(SettingsError, match=f"{name} is empty; restore what it held, or delete it"):
        read(tmp_path)


def test_drawn_class_codes_differ_and_can_be_read_aloud() -> None:
    """Each has twelve letters and digits of which none looks like another one."""
    codes = {keys.drawn_code() for _ in range(100)}

    assert len(codes) == 100
    assert all(set(code) <= {*keys.ALPHABET, "-"} and len(code) == 14 for code in codes)


def test_a_seed_depends_on_the_secret_and_the_submission() -> None:
    """The same pair gives the same seed for ever; another secret or submission another one."""
    seed = keys.seed_of(b"secret", SubmissionId("a"))

    assert seed == 129689151058209
    assert len({seed, keys.seed_of(b"other", SubmissionId("a")), keys.seed_of(b"secret", SubmissionId("b"))}) == 3
    assert all(0 <= keys.seed_of(b"secret", SubmissionId(str(n))) < 2**48 for n in range(100))
