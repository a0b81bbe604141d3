"""What each wall costs a child, and how soon what never ends is ended.

The first table comes from a process of its own that warms up as a zygote does and then forks children, one way after
the other in turn, so that noise hits all of them. A layer's time is taken inside a child that puts all of them up; a
stack's time goes from before the fork to the moment when the child could read its job.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import typer

from grader.box.run import Limits, Run
from grader.exercise.catalog import ROOT
from grader.sandbox import doctor
from grader.sandbox.lockdown import Walls
from grader.sandbox.runner import Sandbox
from tests.sandbox.errand import HONEST, plan
from tests.sandbox.user_story import innermost

_LIMITS = Limits(cpu_seconds=1, wall_seconds=20, memory_bytes=512 << 20)
_SLEEPER = "import time\ntime.sleep(99)"
_FLOOR, _FULL = "floor: plain fork, every wall in the child", "full: own processes, every wall in the child"
_PROMISES = {_FLOOR: 1.5, _FULL: 2.0}  # ms over a bare fork

Row = tuple[str, str, str]


def walls(rounds: int = 60) -> None:
    """Print what each wall costs, in ms and in forks, and how soon endless submissions end."""
    program = f"from benchmarks.walls import measure; measure({rounds})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    times: dict[str, list[float]] = json.loads(done.stdout)
    bare = statistics.median(times["bare fork"])
    typer.echo(f"medians of {rounds} children each, in turn")
    typer.echo(f"{'layer or stack':<46}{'ms':>8}{'p95 ms':>9}{'forks':>8}{'over bare, promised':>22}")
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        late = sorted(seconds)[round(0.95 * (len(seconds) - 1))]
        promise = f"{1e3 * (middle - bare):+.2f}, <= {_PROMISES[name]:g}" if name in _PROMISES else ""
        typer.echo(f"{name:<46}{1e3 * middle:>8.3f}{1e3 * late:>9.3f}{middle / bare:>8.3f}{promise:>22}")
    with Sandbox() as sandbox:
        typer.echo(f"\n{sandbox.name}\n{'what':<42}{'promised':>28}{'seen':>26}")
        for row in (_examination(), *_endings(sandbox), *_four_hundred(sandbox), *_orphan(sandbox)):
            typer.echo(f"{row[0]:<42}{row[1]:>28}{row[2]:>26}")


def measure(rounds: int) -> None:
    """Be a zygote for the first table, and print the seconds by layer and stack."""
    from grader.sandbox import zygote_memory  # these, and torch, after the namespaces, which want a small process
    from grader.sandbox.lockdown import prepare
    from grader.sandbox.walls import namespaces

    namespaced = namespaces.enter()
    rooted = namespaced and namespaces.can_leave_files()
    from grader.sandbox.warmup import warm_up

    warm_up()
    pieces = zygote_memory.huge_pieces()
    prepared = prepare(namespaced=namespaced, rooted=rooted)
    for piece in pieces:
        zygote_memory.fold(*piece)
    alone = prepared.home
    stacks = {"bare fork": (None, False), "fork into own processes": (alone, False), _FLOOR: (None, True)}
    times: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 3):  # the first three warm everything up
        taken = {name: _child(prepared, home, locked)[0] for name, (home, locked) in stacks.items()}
        taken[_FULL] = _child(prepared, alone, True)[0]
        taken |= {f"  {layer}": seconds for layer, seconds in _child(prepared, alone, True, timed=True)[1].items()}
        for name, seconds in taken.items() if number >= 3 else ():
            times[name].append(seconds)
    print(json.dumps(times))


def _child(prepared: Walls, home: int | None, locked: bool, *, timed: bool = False) -> tuple[float, dict[str, float]]:
    """Fork a child; return the seconds until it could work, and if asked for what each of its walls took of them."""
    from grader.sandbox import lockdown
    from grader.sandbox.walls import descriptors, namespaces

    reading, pipe = os.pipe()
    started = time.perf_counter()
    child = namespaces.fork_alone(home)
    if child == 0:
        try:
            layers = _time_each_wall() if timed else {}
            if locked:
                openings = lockdown.Openings(pipe, pipe, pipe, pipe)
                lockdown.put_up(prepared, openings, cpu_seconds=5, memory_bytes=1 << 30)
                pipe = descriptors.LINE
            ready = time.perf_counter() - started
            os.write(pipe, json.dumps([ready, layers]).encode())
        finally:
            os._exit(0)
    os.close(pipe)
    with open(reading, "rb") as file:
        ready, layers = json.loads(file.read())
    os.waitpid(child, 0)
    return ready, layers


def _time_each_wall() -> dict[str, float]:
    """Have every wall that goes up in this process from now on note its seconds in the dictionary."""
    from grader.sandbox.walls import descriptors, landlock, privileges, rlimits, seccomp

    seconds: dict[str, float] = {}

    def timed(wall: Callable[..., None]) -> Callable[..., None]:
        def put_up(*arguments: object, **options: object) -> None:
            started = time.perf_counter()
            wall(*arguments, **options)
            name = f"{wall.__module__.rpartition('.')[2]}.{wall.__name__}"
            seconds[name] = time.perf_counter() - started

        return put_up

    for module in (descriptors, landlock, privileges, rlimits, seccomp):
        for name, wall in vars(module).copy().items():
            if inspect.isfunction(wall) and not name.startswith("_"):
                setattr(module, name, timed(wall))
    return seconds


def _examination() -> Row:
    """Return how long the doctor takes."""
    started = time.perf_counter()
    found = doctor.probe()
    return f"doctor, {len(found.walls)} walls", "<= 2 s", f"{time.perf_counter() - started:.2f} s, tier {found.tier}"


def _endings(sandbox: Sandbox) -> Iterator[Row]:
    """Yield how each kind of endless submission ends."""

    def run(source: str, limits: Limits = _LIMITS) -> Run:
        return sandbox.run(plan(), source, limits)

    run(HONEST)
    seen = run("while True: pass")
    yield "spinner, 1 s of processor time", "<= 1.5 s of it", f"{seen.cpu_seconds:.2f} s, {seen.ending}"
    seen = run(_SLEEPER, replace(_LIMITS, wall_seconds=1.0))
    yield "sleeper, 1 s by the clock", "<= 1.1 s", f"{seen.wall_seconds:.2f} s, {seen.ending}"
    seen = run("hoard = [bytearray(1 << 20) for _ in range(1 << 20)]")
    share = 100 * seen.grown_bytes / _LIMITS.memory_bytes
    yield "hoard of small pieces, 512 MiB", "<= 105 % of it resident", f"{share:.0f} %, {seen.wall_seconds:.2f} s"
    seen = run("while True: print('x' * 999)")
    yield "flood of prints, 64 KiB kept", "<= 64 KiB, 0.2 s", f"{len(seen.output) >> 10} KiB, {seen.wall_seconds:.2f} s"
    seen = run("import os\nwhile True: os.write(4, b'x' * 999)")
    yield "flood of results", "<= 0.2 s", f"{seen.wall_seconds:.2f} s, {seen.ending}"
    seen = run("import os\nwhile True: os.fork()")
    yield "fork bomb", "<= 0.2 s", f"{seen.wall_seconds:.2f} s, {seen.ending}"


def _four_hundred(sandbox: Sandbox) -> Iterator[Row]:
    """Yield what 400 runs leave behind in the zygote."""
    zygote = Path(f"/proc/{innermost(sandbox._zygote._process.pid)}")

    def weight() -> tuple[int, int]:
        resident = int((zygote / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return len(os.listdir(zygote / "fd")), resident >> 20

    time.sleep(1)  # it folds its memory meanwhile
    before = weight()
    seconds = []
    for _ in range(400):
        started = time.perf_counter()
        sandbox.run(plan(), HONEST, _LIMITS)
        seconds.append(time.perf_counter() - started)
    time.sleep(1)  # it has children ready again meanwhile
    after = weight()
    seen = f"{before[0]} -> {after[0]}, {before[1]} -> {after[1]} MiB"
    yield "400 runs: descriptors, resident set", "both flat", seen
    middle, late = 1e3 * statistics.median(seconds), 1e3 * sorted(seconds)[379]
    yield "400 runs: one call, median and p95", "p95 <= 60 ms", f"{middle:.1f} ms, {late:.1f} ms"


def _orphan(sandbox: Sandbox) -> Iterator[Row]:
    """Yield how long a child outlives its zygote, and how long until the service has another."""
    forking = innermost(sandbox._zygote._process.pid)
    running = threading.Thread(target=sandbox.run, args=(plan(), _SLEEPER, replace(_LIMITS, wall_seconds=0.5)))
    running.start()
    while not (children := Path(f"/proc/{forking}/task/{forking}/children").read_text().split()):
        time.sleep(0.001)
    started = time.perf_counter()
    os.kill(forking, signal.SIGKILL)
    while Path(f"/proc/{children[0]}").exists():
        time.sleep(0.001)
    yield "zygote killed: its child is gone after", "<= 0.5 s", f"{time.perf_counter() - started:.3f} s"
    running.join()
    yield "zygote killed: the run, repeated, ends after", "<= 5.5 s", f"{time.perf_counter() - started:.2f} s"
