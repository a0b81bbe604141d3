"""What the kernel holds for one run, by its own figures, whatever way a submission takes memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, LIMITS, plan
from tests.sandbox.hoards import WAYS, source
from tests.sandbox.user_story import innermost

_GROUPS = Path("/sys/fs/cgroup/memory")  # version 1; another hierarchy may hold memory elsewhere
_LIMITS = replace(LIMITS, cpu_seconds=10, wall_seconds=30)
_MOST = 1.05


class _Group:
    """A control group of memory: it counts, and limits nothing."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def peak(self, sandbox: Sandbox, text: str) -> int:
        """Return the most bytes that the kernel held at one time for a run of `text`, beyond what it held before."""
        before = int((self._place / "memory.usage_in_bytes").read_text())
        (self._place / "memory.max_usage_in_bytes").write_text("0")
        sandbox.run(plan(), text, _LIMITS)
        return int((self._place / "memory.max_usage_in_bytes").read_text()) - before


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
        for process in (place / "cgroup.procs").read_text().split():
            (_GROUPS / home.lstrip("/") / "cgroup.procs").write_text(process)
        place.rmdir()


@pytest.mark.parametrize("way", WAYS)
def test_no_way_holds_more_than_the_limit(way: str, group: _Group, sandbox: Sandbox) -> None:
    """What a run holds beyond an honest one is at most the limit and five percent, and it does get most of that."""
    honest = group.peak(sandbox, HONEST)
    held = group.peak(sandbox, source(way)) - honest
    share = held / _LIMITS.memory_bytes
    assert 0.8 <= share <= _MOST
