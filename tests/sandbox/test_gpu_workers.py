"""Single-use workers: the code that a GPU will have, with the device `cpu`, in every respect but the driver."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.box.run import Ending, Limits
from grader.errors import GraderFault, SandboxUnavailable
from grader.sandbox import handles
from grader.sandbox.gpu.box import DeviceBox, GpuWorker, Pool, environment, find_meter
from tests.sandbox import ordinary_user
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict
from tests.sandbox.warm_start import WarmStart


@pytest.fixture(scope="module")
def workers(starting: WarmStart) -> Iterator[DeviceBox]:
    """Yield a box with one worker ready, each forked from a warm process; `main` starts them as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handles, "subprocess", starting)
        with DeviceBox("cpu") as box:
            yield box


def _ended(worker: GpuWorker) -> bool:
    """Whether a worker's process is gone, or only waits for its guardian to notice."""
    try:
        state = Path(f"/proc/{worker.pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return True
    return state in (b"Z", b"X")


# One submission tries everything, since each run costs a worker.
ATTEMPTS = f"""
import ctypes, fcntl, json, mmap, os, resource, signal, socket, sys, threading, torch
libc = ctypes.CDLL(None, use_errno=True)

def raw(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

attempts = {{
    "open": lambda: os.open("/", os.O_RDONLY),
    "open the password file": lambda: open("/etc/passwd"),
    "open a device": lambda: os.open("/dev/null", os.O_RDWR),
    "stat": lambda: os.stat("/"),
    "socket": lambda: socket.socket(),
    "socketpair": lambda: socket.socketpair(),
    "fork": lambda: os.fork(),
    "thread": lambda: threading.Thread(target=print).start(),
    "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", "pass"]),
    "memfd": lambda: os.memfd_create("x"),
    "pipe": lambda: os.pipe(),
    "dup": lambda: os.dup(0),
    "dup by fcntl": lambda: fcntl.fcntl(1, 1030, 0),
    "own a pipe": lambda: fcntl.fcntl(1, 8, 1),
    "turn asynchronous": lambda: fcntl.ioctl(1, 0x5452, b"\\1\\0\\0\\0"),
    "kill everybody": lambda: os.kill(-1, signal.SIGKILL),
    "kill itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "trace": lambda: raw(101, 0, 1, 0, 0),
    "read another's memory": lambda: raw(310, 1, 0, 0, 0, 0, 0),
    "lock memory": lambda: mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x2000),
    "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999)),
    "become dumpable": lambda: raw(157, 4, 1, 0, 0, 0),
    "new namespaces": lambda: raw(272, 0x10000000),
    "another filter": lambda: raw(317, 1, 0, 0),
    "io_uring": lambda: raw(425, 1, 0),
}}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, RuntimeError, ValueError):
        continue
    done.append(name)
torch.left_behind = True
print(json.dumps([done, sorted(os.environ)]))
{HONEST}
"""


def test_a_worker_is_closed_in(workers: DeviceBox) -> None:
    """No file, socket, process, thread, signal or new descriptor, and an environment without secrets."""
    run = workers.run(plan(), ATTEMPTS, LIMITS)

    opened, names = json.loads(run.output)
    assert verdict(run) == "right"
    assert opened == []
    assert set(names) <= set(environment("cpu", "")) | {"LC_CTYPE"}


def test_every_thread_of_a_waiting_worker_has_its_walls(workers: DeviceBox) -> None:
    """Seen from outside: a filter, no new privileges, no capabilities, not root, and pipes alone that are open."""
    workers.pool.wait()
    process = Path(f"/proc/{workers.pool._coming[0].result().pid}")

    for thread in (process / "task").iterdir():
        facts = dict(line.split(":", 1) for line in (thread / "status").read_text().splitlines())
        assert (facts["Seccomp"].strip(), facts["NoNewPrivs"].strip()) == ("2", "1")
        assert int(facts["CapEff"], 16) == int(facts["CapPrm"], 16) == 0
        assert "0" not in facts["Uid"].split()
    if os.geteuid() == 0:  # nobody else may look
        targets = {os.readlink(file).partition(":")[0] for file in (process / "fd").iterdir()}
        assert targets <= {"pipe", "socket", "/dev/null"}


@pytest.mark.parametrize(
    ("place", "apart"), [("ordinary_user.py", True), ("contained.py unshare,setns", False)], ids=["user", "container"]
)
def test_a_worker_holds_elsewhere_too(place: str, apart: bool) -> None:
    """As an ordinary user, and where a container forbids namespaces: it says so, and nothing more is possible."""
    program, *arguments = place.split()
    here = Path(__file__).parent
    command = [sys.executable, str(here / program), *arguments, "tests.sandbox.test_gpu_workers"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == ordinary_user.NOT_POSSIBLE:
        pytest.skip(f"root cannot lend its Python to another user here: {done.stderr.strip()}")

    assert done.returncode == 0, done.stderr
    story = json.loads(done.stdout)
    assert (story["verdict"], story["opened"]) == ("right", [])
    assert story["apart"] <= apart  # where root has no namespaces either, nobody has


def test_each_run_has_a_worker_of_its_own(workers: DeviceBox) -> None:
    """What the run before left in its process is not there, and warming up is not counted as the student's time."""
    run = workers.run(plan(), f"import torch\nprint(hasattr(torch, 'left_behind'))\n{HONEST}", LIMITS)

    assert (verdict(run), run.output, run.ending) == ("right", "False\n", Ending.FINISHED)
    assert 0 < run.cpu_seconds < 1


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        ("import time; time.sleep(99)", (Ending.TIMEOUT, "more than 0.5 s in all")),
        ("while True: pass", (Ending.TIMEOUT, "more than 1 s of processor time")),
        (
            "import torch\nkept = []\nwhile True: kept.append(torch.ones(1 << 19))",
            (Ending.MEMORY, "more than 128 MiB"),
        ),
    ],
    ids=["sleeper", "spinner", "hog"],
)
def test_a_bad_end_is_told_for_what_it_is(source: str, ending: tuple[Ending, str], workers: DeviceBox) -> None:
    """Every kind of ending, the kernel's limits on memory and time being watched from outside here."""
    limits = replace(LIMITS, wall_seconds=0.5) if "sleep" in source else replace(LIMITS, cpu_seconds=1)

    run = workers.run(plan(), source, limits)

    assert (run.ending, run.detail) == ending
    assert run.memory_bytes < 1 << 30


def test_another_device_is_refused(workers: DeviceBox) -> None:
    """A plan for a GPU does not run on the CPU in silence."""
    with pytest.raises(SandboxUnavailable, match="on cpu only, not on cuda"):
        workers.run(replace(plan(), device="cuda"), HONEST, LIMITS)


def test_a_worker_that_died_waiting_is_replaced_and_a_closed_box_has_none(
    starting: WarmStart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run takes the next one, and the student notices nothing; a run after the end is refused."""
    monkeypatch.setattr(handles, "subprocess", starting)
    box = DeviceBox("cpu")
    box.pool.wait()
    dead = box.pool._coming[0].result()
    os.kill(dead.pid, signal.SIGKILL)

    assert verdict(box.run(plan(), HONEST, LIMITS)) == "right"
    box.close()  # while one more warms up
    assert _ended(dead)
    assert not list(Path(box.pool._scratch).parent.glob(Path(box.pool._scratch).name))
    with pytest.raises(GraderFault, match="closed"):
        box.run(plan(), HONEST, Limits())


def test_a_worker_that_does_not_get_ready_is_our_fault() -> None:
    """Its last words are told, and no student is to blame."""
    with contextlib.closing(Pool("nonsense", 1)) as pool, pytest.raises(GraderFault, match="nonsense"):
        pool.take()


def test_a_box_without_a_meter_says_nothing_of_device_memory() -> None:
    """On the CPU there is none to measure; without a driver nobody can say."""
    assert find_meter("cpu")(os.getpid()) is None
    assert find_meter("cuda")(os.getpid()) is None


def main() -> None:
    """Let an honest submission try everything in a worker of this place, and print what was possible."""
    with DeviceBox("cpu") as box:
        box.pool.wait()
        facts = box.pool._coming[0].result().facts
        run = box.run(plan(), ATTEMPTS, LIMITS)
        opened, _ = json.loads(run.output)
        print(json.dumps({"apart": facts["apart"], "verdict": verdict(run), "opened": opened}))


if __name__ == "__main__":
    main()
