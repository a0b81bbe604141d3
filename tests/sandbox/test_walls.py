"""Each wall alone: what it should stop works without it and fails behind it."""

from __future__ import annotations

import functools
import itertools
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.lockdown import Walls
from grader.sandbox.walls import calls, landlock, seccomp
from grader.sandbox.walls.rlimits import Mapped

_ROOT = Path(__file__).parents[2]

_PROGRAM = """
import ctypes, fcntl, io, json, mmap, os, resource, signal, socket, sys, time
from grader.sandbox import lockdown
from grader.sandbox.walls import descriptors, kernel, landlock, namespaces, privileges, rlimits, seccomp

def tried(attempt):
    try:
        attempt()
    except (OSError, ValueError, MemoryError, ImportError) as error:
        return type(error).__name__
    return "done"

def in_a_child(work):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(work()).encode())
        os._exit(0)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    text = open(reading, "rb").read()
    return json.loads(text) if text else os.waitstatus_to_exitcode(status)

def behind(wall, attempt):
    def both():
        wall()
        return tried(attempt)
    return [in_a_child(lambda: tried(attempt)), in_a_child(both)]

def filtered():
    privileges.forbid_new_privileges()
    seccomp.load(seccomp.prepare(seccomp.architecture(os.uname().machine)))

def landlocked():
    ruleset = landlock.prepare()
    privileges.forbid_new_privileges()
    landlock.restrict(ruleset)

def limited():
    rlimits.set_limits(cpu_seconds=1, mapped=rlimits.measure(), memory_bytes=64 << 20)

def rooted():
    if not namespaces.enter():
        os._exit(77)
    namespaces.leave_files()

def a_fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()

def connect():
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))

descriptor_of_a_file = os.open(sys.executable, os.O_RDONLY)

def raw(number, *arguments):
    return kernel.syscall(number, *arguments)
"""


_FILTERED = (
    "lambda: os.close(os.open('/', os.O_RDONLY))",
    "lambda: os.stat('/')",
    "lambda: os.listdir('/')",
    "lambda: socket.socket().close()",
    "lambda: socket.socketpair()",
    "a_fork",
    "lambda: os.kill(os.getpid(), 0)",
    "lambda: os.pipe()",
    "lambda: os.memfd_create('x')",
    "lambda: os.uname()",
    "lambda: os.nice(0)",
    "lambda: os.pidfd_open(os.getpid())",
    "lambda: fcntl.fcntl(1, 8, os.getpid())",
    "lambda: fcntl.fcntl(1, 4, 0)",
    "lambda: kernel.prctl(4, 1)",
    "lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "lambda: resource.getrlimit(resource.RLIMIT_AS)",
    "lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
    "lambda: fcntl.fcntl(1, 1)",
    "lambda: os.fstat(1)",
    "lambda: os.lseek(descriptor_of_a_file, 0, os.SEEK_CUR)",
    "lambda: os.dup(0)",
    "lambda: os.sched_yield()",
    "lambda: os.sched_getaffinity(0)",
    "lambda: mmap.mmap(-1, 4096).close()",
    "lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ).close()",
    "lambda: resource.getrusage(resource.RUSAGE_CHILDREN)",
)
_COMPUTING = (
    "lambda: bytearray(1 << 24)",
    "lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()",
    "lambda: os.read(0, 0)",
    "lambda: os.urandom(8)",
    "lambda: __import__('random').seed()",
    "lambda: resource.getrusage(resource.RUSAGE_SELF)",
    "lambda: os.isatty(1)",
    "lambda: os.getpid()",
    "lambda: time.sleep(0.001)",
    "lambda: (time.time(), time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time())",
    "lambda: __import__('threading').Event().wait(0.001)",
    "lambda: __import__('logging').warning('heard')",
    "lambda: [0] * (1 << 20) + [1]",
    "lambda: io.TextIOWrapper(io.FileIO(1, 'w', closefd=False)).write('')",
)
_X32 = "lambda: raw(0x40000000 + 39)"
_ROOTED = (
    "lambda: os.close(os.open(sys.executable, os.O_RDONLY))",
    "lambda: os.stat('/proc')",
    "lambda: os.stat('/../tmp')",
    "lambda: os.listdir('/proc/self/fd')",
    "lambda: os.close(os.open('/tmp', os.O_TMPFILE | os.O_RDWR))",
    "lambda: __import__('colorsys')",
)
_NEW_FOLDER = "lambda: os.rmdir(os.mkdir('/new-folder') or '/new-folder')"
_NOBODY = "lambda: (privileges.become_nobody(), privileges.drop_capabilities())"
_ATTEMPTS = {  # by what puts the wall up
    "filtered": (*_FILTERED, *_COMPUTING, _X32),
    "landlocked": (
        "lambda: os.close(os.open('/', os.O_RDONLY))", "connect", "lambda: os.kill(os.getppid(), 0)",
    ),
    "limited": (
        "lambda: bytearray(128 << 20)", "lambda: os.write(os.memfd_create('x'), b'x')",
        "lambda: [os.dup(0) for _ in range(200)]",
    ),
    "rooted": (*_ROOTED, _NEW_FOLDER),
    _NOBODY: ("lambda: os.setuid(0)",),
}  # fmt: skip


def _output(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"{_PROGRAM}\n{program}"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def _behind_each(wall: str) -> dict[str, list[object]]:
    """Return what became of each attempt without the wall and behind it, all of them in forks of one process."""
    calls = ", ".join(f"{attempt!r}: behind({wall}, {attempt})" for attempt in _ATTEMPTS[wall])
    found: dict[str, list[object]] = json.loads(_output(f"print(json.dumps({{{calls}}}))").splitlines()[-1])
    return found


def _behind(wall: str, attempt: str) -> list[object]:
    return _behind_each(wall)[attempt]


@pytest.mark.parametrize("attempt", _FILTERED)
def test_the_filter_refuses_what_is_not_computing(attempt: str) -> None:
    """Each call works without the filter and is not permitted behind it."""
    assert _behind("filtered", attempt) in (["done", "PermissionError"], ["done", "ValueError"])


@pytest.mark.parametrize("attempt", _COMPUTING)
def test_the_filter_lets_computing_through(attempt: str) -> None:
    """Memory, time, open descriptors and the process's own figures stay usable."""
    assert _behind("filtered", attempt) == ["done", "done"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has the x32 numbers")
def test_the_filter_kills_at_a_foreign_abi() -> None:
    """A call by an x32 number ends the process with SIGSYS, whatever the number means there."""
    assert _behind("filtered", _X32)[1] == -31


def test_the_filter_makes_clone3_look_absent() -> None:
    """The C library then uses clone, which the filter can judge."""
    assert (
        _output("filtered()\ntry:\n    raw(435, None, 0)\nexcept OSError as error:\n    print(error.errno)") == "38\n"
    )


@pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")
def test_landlock_refuses_files() -> None:
    """Opening works without Landlock and is refused behind it."""
    assert _behind("landlocked", "lambda: os.close(os.open('/', os.O_RDONLY))") == ["done", "PermissionError"]


@pytest.mark.skipif(landlock.version() < 4, reason="Landlock speaks of TCP from version 4 on")
def test_landlock_refuses_tcp() -> None:
    """Binding a port works without Landlock and is refused behind it."""
    assert _behind("landlocked", "connect") == ["done", "PermissionError"]


@pytest.mark.skipif(landlock.version() < landlock.SCOPES_SINCE, reason="this Landlock does not scope signals")
def test_landlock_keeps_signals_inside() -> None:
    """A signal to the parent works without Landlock and is refused behind it."""
    assert _behind("landlocked", "lambda: os.kill(os.getppid(), 0)") == ["done", "PermissionError"]


@pytest.mark.parametrize(
    ("attempt", "refusal"),
    [
        ("lambda: bytearray(128 << 20)", "MemoryError"),
        ("lambda: os.write(os.memfd_create('x'), b'x')", -25),
        ("lambda: [os.dup(0) for _ in range(200)]", "OSError"),
    ],
)
def test_limits_hold(attempt: str, refusal: object) -> None:
    """Memory over the budget, writing to files (SIGXFSZ) and hoarding descriptors fail behind the limits."""
    without, behind = _behind("limited", attempt)
    assert (without, behind in (refusal, "OSError")) == ("done", True)


@pytest.mark.skipif(doctor.probe().tier != "A", reason="this system does not grant an empty root")
@pytest.mark.parametrize("attempt", _ROOTED)
def test_behind_an_empty_root_there_are_no_files(attempt: str) -> None:
    """Each path is there without the wall and not behind it; Python's own modules neither."""
    without, behind = _behind("rooted", attempt)
    assert (without, behind in ("FileNotFoundError", "ModuleNotFoundError")) == ("done", True)


@pytest.mark.skipif(doctor.probe().tier != "A", reason="this system does not grant an empty root")
def test_an_empty_root_stays_empty() -> None:
    """Not even its owner can make something in it."""
    assert _behind("rooted", _NEW_FOLDER)[1] == "OSError"


def test_only_the_childs_own_descriptors_stay_open() -> None:
    """Everything but the empty input, the prints, the job, the result and the report is closed."""
    attempt = "[n for n in range(300) if tried(lambda: os.fstat(n)) == 'done']"
    program = (
        "extra = [os.open('/dev/null', os.O_RDWR) for _ in range(200)]\n"
        "out = os.dup(1)\n"
        "descriptors.keep_only(job=extra[3], result=extra[4], output=out, line=extra[5], ruleset=None)\n"
        f"print({attempt})"
    )
    assert json.loads(_output(program)) == [0, 1, 2, 3, 4, 5]


def test_descriptors_reach_their_places_from_any_number() -> None:
    """A busy process hands over high numbers, in any order: moving one never overwrites another."""
    program = """
import random
files = [fcntl.fcntl(os.memfd_create(str(index)), fcntl.F_DUPFD, 300) for index in range(5)]
draws, wrong = random.Random(0), []
for _ in range(200):
    sources, places = draws.sample(range(10, 100), 5), draws.sample(range(10, 100), 5)
    for file, source in zip(files, sources):
        os.dup2(file, source)
    descriptors.move(dict(zip(places, sources)))
    wrong += [place for file, place in zip(files, places) if os.fstat(place).st_ino != os.fstat(file).st_ino]
    os.closerange(10, 300)
print(json.dumps(wrong))
"""
    assert json.loads(_output(program)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to give up")
def test_root_becomes_nobody_for_good() -> None:
    """After the change there is no way back to user 0."""
    assert _behind(_NOBODY, "lambda: os.setuid(0)") == ["done", "PermissionError"]


def test_an_unknown_processor_is_refused_by_name() -> None:
    """A wrong table would allow wrong calls: without one there is no filter."""
    with pytest.raises(SandboxUnavailable, match="x86_64, aarch64; this one is riscv64"):
        seccomp.architecture("riscv64")


_ORDER = """
standard = [os.dup(n) for n in (1, 1, 1, 1)]
prepared = lockdown.prepare(namespaced=False, rooted=False)
called = []

def note(frame, event, argument):
    module = frame.f_globals["__name__"]
    mine = module.startswith("grader.sandbox.walls.") and not module.endswith(".kernel")
    if event == "call" and mine and not frame.f_code.co_name.startswith("<"):
        called.append(frame.f_code.co_name)

if os.fork():
    os.wait()
    os._exit(0)
sys.setprofile(note)
lockdown.put_up(prepared, lockdown.Openings(*standard), cpu_seconds=1, memory_bytes=1 << 30)
sys.setprofile(None)
os.write(1, json.dumps(called).encode())
os._exit(0)
"""


def test_the_walls_go_up_in_their_order() -> None:
    """Descriptors first, the filter last, and what needs a right before that right is gone."""
    expected = [
        *("keep_only", "move", "yield_the_processor", "set_limits", "refuse_huge_pages", "become_nobody"),
        *("drop_capabilities", "die_with", "forbid_new_privileges", "become_undumpable", "restrict", "load"),
    ]
    if landlock.version() == 0:
        expected.remove("restrict")
    assert json.loads(_output(_ORDER)) == expected


def test_the_zygote_claims_no_tier_that_it_has_not() -> None:
    """All walls are A; Landlock or all the namespaces, the empty root among them, B; anything less C."""
    tiers = {
        (ruleset, home, rooted): Walls(b"", ruleset, home, rooted, zygote=1, mapped=Mapped(0, 0)).tier
        for ruleset, home, rooted in itertools.product((5, None), (4, None), (True, False))
    }
    assert tiers.pop((5, 4, True)) == "A"
    assert tiers.pop((None, 4, True)) == "B"
    assert {key: tier for key, tier in tiers.items() if key[0] is not None} == {
        (5, 4, False): "B", (5, None, True): "B", (5, None, False): "B"
    }  # fmt: skip
    assert {tier for key, tier in tiers.items() if key[0] is None} == {"C"}


_HEADERS = {
    "x86_64": ("x86_64-linux-gnu/asm/unistd_64.h", "asm/unistd_64.h"),
    "aarch64": ("asm-generic/unistd.h",),
}
_AUDIT = {"x86_64": ("EM_X86_64", 0xC0000000), "aarch64": ("EM_AARCH64", 0xC0000000)}  # 64 bits, little end first


def _defined(machine: str) -> dict[str, int]:
    """Return the system call numbers in the kernel's header for `machine`."""
    found = [Path("/usr/include", name) for name in _HEADERS[machine] if Path("/usr/include", name).exists()]
    if not found:
        pytest.skip(f"the kernel's headers for {machine} are not installed")
    lines = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", found[0].read_text(), re.MULTILINE)
    return {name: int(number) for name, number in lines}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_tables_hold_the_kernels_numbers(machine: str) -> None:
    """Each number is the one of the kernel's header; a wrong one would allow another call."""
    ours, theirs = seccomp.architecture(machine).numbers, _defined(machine)
    assert dict(ours) == {name: theirs.get(name) for name in ours}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_tables_hold_the_kernels_name_of_their_processor(machine: str) -> None:
    """The mark by which the filter knows its own ABI is the one of the kernel's header."""
    header = Path("/usr/include/linux/elf-em.h")
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    name, flags = _AUDIT[machine]
    found = re.search(rf"^#define {name}\s+(\d+)", header.read_text(), re.MULTILINE)
    assert found is not None
    assert seccomp.architecture(machine).audit == int(found[1]) | flags


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_tables_know_every_checked_call(machine: str) -> None:
    """A name without a number would fail only on that processor."""
    known = seccomp.architecture(machine).numbers
    assert {*calls.COMPUTE.table, *calls.ABSENT} - set(known) == set()
    assert set(calls.beside_a_driver(()).table) - set(known) <= {"poll", "ppoll"}
