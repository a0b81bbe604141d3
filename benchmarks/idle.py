"""What a service costs while nobody uses it: `python -m benchmarks idle`.

Real programs on SQLite, and on Postgres with one worker more. After a while in which everything gets warm, the
processor time of all their processes is read twice, so what else the machine does matters little.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import typer

from benchmarks.scale_out import WORKER, Course, program
from benchmarks.storm_site import free_port
from benchmarks.suite import spent_below
from tests.jobs import postgres


def idle(warm: float = 120.0, seconds: float = 30.0) -> None:
    """Print the percentage of one core that each program takes, with all below it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idle-")))
        server = stack.enter_context(postgres.running())
        on_file, shared = (
            Course(folder / "file", ""),
            Course(folder / "shared", postgres.make_database(server.url, "gym")),
        )
        programs = {
            "pages and grading on SQLite": (on_file, ("serve",)),
            "pages and grading on Postgres": (shared, ("serve",)),
            "one more worker": (shared, WORKER),
        }
        pids = {"Postgres": server.pid}
        for what, (course, words) in programs.items():
            pids[what] = stack.enter_context(program(course, what, *words, PORT=str(free_port()))).pid
        time.sleep(warm)
        before = {what: _spent(pid) for what, pid in pids.items()}
        time.sleep(seconds)
        for what, pid in pids.items():
            typer.echo(f"{what}: {100 * (_spent(pid) - before[what]) / seconds:.1f} % of a core")
        on_file.close()
        shared.close()


def _spent(pid: int) -> float:
    """Return the seconds of processor time of a process and all below it."""
    facts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, facts[11:13])) / 100 + sum(spent_below(pid))
