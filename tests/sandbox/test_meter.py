"""Processor time and memory are held to their limits by exact figures, however a submission divides them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.box.run import Ending
from grader.sandbox.handles import Use
from grader.sandbox.memory import kernel_kills
from grader.sandbox.run_monitor import Meter
from grader.sandbox.runner import Sandbox
from tests.sandbox.arena_corpus import FOLDER
from tests.sandbox.errand import SHORT, plan

_BRIEF = replace(SHORT, cpu_seconds=0.2, wall_seconds=20)
_TRIES = 20
_IN_PARTS = """
import time

while True:
    end = time.perf_counter() + {work}
    while time.perf_counter() < end:
        pass
    time.sleep({rest})
"""


@pytest.mark.parametrize(("work", "rest"), [(1.0, 0.0), (0.1, 0.05), (0.003, 0.001), (0.0005, 0.0005)])
def test_processor_time_counts_however_it_is_divided(work: float, rest: float, sandbox: Sandbox) -> None:
    """A fifth of a second is a fifth of a second, though the kernel's own limit knows whole seconds and ticks only."""
    run = sandbox.run(plan(), _IN_PARTS.format(work=work, rest=rest), _BRIEF)

    assert (run.ending, run.detail) == (Ending.TIMEOUT, "more than 0.2 s of processor time")
    assert 0.19 < run.cpu_seconds < 0.4


def test_sleeping_at_every_tick_earns_no_processor_time(sandbox: Sandbox) -> None:
    """The attack gets its second and not the wall clock's twenty."""
    attack = (FOLDER / "resources" / "sleep_at_every_tick.py").read_text(encoding="utf-8")
    run = sandbox.run(plan(), attack, replace(SHORT, wall_seconds=20))

    assert (run.ending, run.detail) == (Ending.TIMEOUT, "more than 1 s of processor time")
    assert run.cpu_seconds < 1.2


def test_being_awake_at_every_tick_is_no_lack_of_memory(sandbox: Sandbox) -> None:
    """Whoever is killed for ticks that they did not use is out of time; nothing has to run beside nobody for that."""
    attack = (FOLDER / "resources" / "awake_at_every_tick.py").read_text(encoding="utf-8")
    for _ in range(_TRIES):
        kills = kernel_kills()
        run = sandbox.run(plan(), attack, replace(SHORT, wall_seconds=4))
        if kernel_kills() == kills:  # else the machine really ran out of memory meanwhile: another test has it do that
            break

    assert (run.ending, run.killed) == (Ending.TIMEOUT, False), run


def test_waiting_costs_no_processor_time(sandbox: Sandbox) -> None:
    """Whoever sleeps is ended by the wall clock only, and told so."""
    run = sandbox.run(plan(), "import time\ntime.sleep(60)", replace(_BRIEF, wall_seconds=0.5))

    assert (run.ending, run.detail) == (Ending.TIMEOUT, "more than 0.5 s in all")


def test_memory_in_freed_addresses_counts(sandbox: Sandbox) -> None:
    """A child that fills the place of a library gets its memory, and not that of the library as well."""
    attack = (FOLDER / "resources" / "memory_for_libraries.py").read_text(encoding="utf-8")
    run = sandbox.run(plan(), attack, replace(SHORT, wall_seconds=20))

    assert (run.ending, run.detail) == (Ending.MEMORY, "more than 128 MiB")
    assert run.grown_bytes < 1.5 * SHORT.memory_bytes  # it was 2.3 times as much


def test_the_next_look_is_as_soon_as_the_limit_can_be_reached() -> None:
    """Seldom while much is left, often near the end, and what was used before the run is nobody's."""
    meter = Meter(SHORT, Use(seconds=3.0, memory=1 << 30))

    assert [meter.look(Use(seconds, 1 << 30)) for seconds in (3.0, 3.99, 3.9999)] == pytest.approx([0.02, 0.01, 0.002])
    assert (meter.spent, meter.hoarded) == (False, False)
    meter.look(Use(4.0, (1 << 30) + (144 << 20)))
    assert (meter.spent, meter.hoarded) == (True, True)
