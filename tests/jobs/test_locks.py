"""Who is alive, and who may grade at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from grader.jobs.locks import RunLock, WorkerLock

ROOT = Path(__file__).resolve().parents[2]
SIGN_IN = """
import sys, pathlib
from grader.jobs.locks import WorkerLock
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


def test_whoever_is_alone_has_nobody_beside_them(tmp_path: Path) -> None:
    """Many threads hold the lock in both ways: nobody is inside while another one is alone."""
    door = threading.Barrier(6)
    inside: list[int] = []
    most: list[int] = []
    broken: list[list[int]] = []

    def together() -> None:
        door.wait()
        for _ in range(50):
            with closing(RunLock(tmp_path)) as lock, lock.together():
                inside.append(threading.get_ident())
                most.append(len(inside))
                inside.remove(threading.get_ident())

    def alone() -> None:
        door.wait()
        for _ in range(50):
            with closing(RunLock(tmp_path)) as lock, lock.alone():
                broken.append(inside.copy())

    threads = [threading.Thread(target=way) for way in (together, together, together, together, alone, alone)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert broken == [[]] * 100
    assert (len(most), inside) == (200, [])
