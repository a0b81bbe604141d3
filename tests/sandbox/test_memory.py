"""What the kernel holds for one run, by its own figures, whatever way a submission takes memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox.runner import Sandbox
from tests.machine import stat_of
from tests.sandbox.errand import HONEST, LIMITS, plan
from tests.sandbox.hoards import WAYS, source
from tests.sandbox.user_story import innermost

_GROUPS = Path("/sys/fs/cgroup/memory")  # version 1; another hierarchy may hold memory elsewhere
_LIMITS = replace(LIMITS, cpu_seconds=10, wall_seconds=30)
_MOST = 1.05
_AT_REST = [["S"]] * 3  # the zygote, and a child for each of the two limits that runs were asked for with
_LOOK_SECONDS, _REST_SECONDS, _PATIENCE_SECONDS = 0.01, 0.1, 30.0


class _Group:
    """A control group of memory: it counts, and limits nothing."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def peak(self, sandbox: Sandbox, text: str) -> int:
        """Return the most bytes that the kernel held at one time for a run of `text`, beyond what it held before."""
        before = self._at_rest()
        (self._place / "memory.max_usage_in_bytes").write_text("0")
        sandbox.run(plan(), text, _LIMITS)
        return int((self._place / "memory.max_usage_in_bytes").read_text()) - before

    def _at_rest(self) -> int:
        """Return what the zygote and its waiting children hold, once the last run's child is gone and the next waits.

        No run waits for either: on a busy machine they may stand for megabytes more or less.
        """
        last_use, rest_since = -1, 0.0
        for _ in range(int(_PATIENCE_SECONDS / _LOOK_SECONDS)):
            states = [stat_of(pid)[:1] for pid in (self._place / "cgroup.procs").read_text().split()]
            use = int((self._place / "memory.usage_in_bytes").read_text())
            if states != _AT_REST or use != last_use:
                last_use, rest_since = use, time.monotonic()
            elif time.monotonic() - rest_since > _REST_SECONDS:
                return use
            time.sleep(_LOOK_SECONDS)
        raise AssertionError(f"the zygote and its children did not come to rest: {states}")


@pytest.fixture(scope="module")
def group(sandbox: Sandbox) -> Iterator[_Group]:
    """Yield a group with the zygote in it, and with the children that it has from then on."""
    place = _GROUPS / f"grader-test-{os.getpid()}"
    try:
        place.mkdir()
    except OSError as reason:
        pytest.skip(f"no memory control group can be made here: {reason}")
    zygote = innermost(sandbox._zygote._process.pid)
    home = next(
        line.split(":")[2] for line in Path(f"/proc/{zygote}/cgroup").read_text().splitlines() if ":memory:" in line
    )
    try:
        (place / "cgroup.procs").write_text(str(zygote))
        for _ in range(3):  # so that no child is ready that was made before
            sandbox.run(plan(), HONEST, replace(_LIMITS, memory_bytes=_LIMITS.memory_bytes + 4096))
            sandbox.run(plan(), HONEST, _LIMITS)
        yield _Group(place)
    finally:
        _emptied(place, _GROUPS / home.lstrip("/"))
        place.rmdir()


def _emptied(place: Path, home: Path) -> None:
    """Move a group's processes to `home`, and those as well that they start or that end meanwhile."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while (members := (place / "cgroup.procs").read_text().split()) and time.monotonic() < until:
        for process in members:
            with suppress(ProcessLookupError):  # it has ended since
                (home / "cgroup.procs").write_text(process)


@pytest.mark.parametrize("way", WAYS)
def test_no_way_holds_more_than_the_limit(way: str, group: _Group, sandbox: Sandbox) -> None:
    """What a run holds beyond an honest one is at most the limit and five percent, and it does get most of that."""
    honest = group.peak(sandbox, HONEST)
    held = group.peak(sandbox, source(way)) - honest
    share = held / _LIMITS.memory_bytes
    assert 0.8 <= share <= _MOST
