"""Who is alive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grader.jobs.worker_lock import WorkerLock

ROOT = Path(__file__).resolve().parents[2]
SIGN_IN = """
import sys, pathlib
from grader.jobs.worker_lock import WorkerLock
print(WorkerLock(pathlib.Path(sys.argv[1])).id, flush=True)
sys.stdin.read()
"""


def test_a_killed_process_is_dead_and_a_living_one_is_not(tmp_path: Path) -> None:
    """The kernel tells, at once and for certain."""
    mine = WorkerLock(tmp_path)
    command = [sys.executable, "-c", SIGN_IN, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        id = other.stdout.readline().strip()
        alive = mine.dead(id)
        other.kill()
        other.wait()

    assert (alive, mine.dead(id), mine.dead(mine.id), mine.dead("never seen")) == (False, True, False, True)
    mine.close()


def test_signing_in_sweeps_the_files_of_the_dead(tmp_path: Path) -> None:
    """Only the living leave a file."""
    living = WorkerLock(tmp_path)
    (tmp_path / "gone.lock").touch()
    fresh = WorkerLock(tmp_path)

    assert {file.stem for file in tmp_path.iterdir()} == {living.id, fresh.id}
    living.close()
    fresh.close()
    assert list(tmp_path.iterdir()) == []
