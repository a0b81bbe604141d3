"""No more submissions run at once than have room, whatever each of them does with its limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import bootstrap, installation
from grader.errors import SandboxUnavailable
from grader.exercise.catalog import Catalog
from grader.sandbox.budget import CHILD, GRADER, PAGES, ZYGOTE, MemoryBudget
from grader.settings import Settings

_MIB = 1 << 20
_EACH = 1024 * _MIB


@pytest.mark.parametrize("wanted", [1, 2, 3, 7])
@pytest.mark.parametrize("memory", [2400, 3500, 4700, 9000, 64_000])
def test_slots_are_as_many_as_fit(wanted: int, memory: int) -> None:
    """What all of them may use at once is there, and one slot more would not fit or was not asked for."""
    budget = MemoryBudget(memory * _MIB, _EACH)
    slots = budget.slots(wanted)
    processes = budget.processes(slots)

    assert PAGES + processes * (GRADER + ZYGOTE) + slots * (_EACH + CHILD) <= memory * _MIB
    assert slots == wanted or budget.needed(slots + 1) > memory * _MIB
    assert processes in (slots, (slots + 1) // 2)
    assert processes == slots or budget.needed(slots, slots) > memory * _MIB


def test_a_place_without_room_for_one_is_refused_in_one_line(tmp_path: Path) -> None:
    """The service does not start, and says how much there is, how much it needs, and which setting knows better."""
    settings = Settings(data=tmp_path, memory_mib=1500)
    with pytest.raises(SandboxUnavailable) as refusal:
        bootstrap.build(settings)

    assert str(refusal.value).startswith(
        "there is too little memory to grade: 1500 MiB, where one submission at a time"
    )
    assert "ATTENTION_GYM_MEMORY_MIB" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_service_takes_fewer_slots_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """With room for two, two of eight slots are left, and the log has the figures."""
    settings = Settings(slots=8, memory_mib=4000)

    assert installation.slots_in_memory(settings, Catalog([])) == 2
    assert "memory for 2 submissions at once, not for 8: 4000 MiB, where those need" in caplog.text
