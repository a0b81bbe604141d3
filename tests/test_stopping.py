"""What a signal does to a command while it starts: it ends at once, says so, and leaves nothing running."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from grader import cli, grading_entry, installation
from grader.cli.main import main
from grader.exercise.catalog import ROOT
from grader.jobs.supervisor import WorkerSupervisor
from grader.settings import Settings
from tests.jobs.classroom import until
from tests.machine import free_port, is_running
from tests.test_bootstrap import descendants

ANSWER = str(ROOT / "reference" / "softmax.py")
# An importer that behaves as torch's C code does: an exception that is raised within it gets lost.
SIGNALLED = """
import os, runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where these tests run in the background

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            print(*open("/proc/thread-self/children").read().split(), flush=True)
            try:
                os.kill(os.getpid(), {number})
                for _ in range(1000):
                    pass
            except BaseException:
                pass

sys.meta_path.insert(0, Signalling())
sys.argv[1:] = {arguments!r}
runpy.run_module("grader", run_name="__main__")
"""
ENDLESS = """
import os, signal
with open({file!r}, "w") as file:
    file.write(str(os.getpid()))
os.kill(os.getppid(), signal.SIGTERM)
while True:
    pass
"""
UNWALLED = """
import sys
import tempfile
from grader import stopping
from grader.box.run import Limits
from grader.sandbox.plain import PlainBox
from tests.sandbox.errand import plan

stopping.stop_at_once()
PlainBox().run(plan(), sys.argv[1], Limits(wall_seconds=60))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["exercise", "list"], "typer"),
        (["grade", "softmax", ANSWER], "typer"),
        (["grade", "softmax", ANSWER], "torch"),
        (["serve"], "gradio"),
        (["serve"], "grader.pages.application"),
    ],
)
def test_a_signal_while_a_command_is_imported_is_never_lost(
    tmp_path: Path, arguments: list[str], name: str, number: signal.Signals
) -> None:
    """Not even within code that loses exceptions; the sandbox on its way ends as well, and leaves no file."""
    (tmp_path / "tmp").mkdir()
    told = subprocess.run(
        [sys.executable, "-c", SIGNALLED.format(name=name, number=number.value, arguments=arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp"), "ATTENTION_GYM_DATA": str(tmp_path / "data"),
                          "ATTENTION_GYM_PORT": str(free_port()), "ATTENTION_GYM_ALLOW_ONE_WALL": "yes"},
    )  # fmt: skip
    started = [int(pid) for pid in told.stdout.split()]

    assert (told.returncode, told.stderr.splitlines()[-1]) == (128 + number, "stopped")
    assert bool(started) == (arguments[0] != "exercise"), "something was on its way"
    until(lambda: not any(map(is_running, started)), "what was started has ended")
    assert [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("grader")] == []


def test_an_ignored_signal_stays_ignored() -> None:
    """A shell ignores Ctrl+C for what it starts in the background."""
    code = (
        "import os, signal; from grader import stopping; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "stopping.stop_at_once(); os.kill(os.getpid(), signal.SIGINT); stopping.stop_as_usual();"
        "os.kill(os.getpid(), signal.SIGINT); print('alive')"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stdout) == (0, "alive\n"), told.stderr


def test_code_without_walls_ends_with_the_command_that_runs_it(tmp_path: Path) -> None:
    """Else a loop without an end would take a core for ever."""
    source = ENDLESS.format(file=str(tmp_path / "pid"))
    told = subprocess.run([sys.executable, "-c", UNWALLED, source], cwd=ROOT, capture_output=True, text=True)

    assert (told.returncode, told.stderr) == (128 + signal.SIGTERM, "stopped\n")
    until(lambda: not is_running(int((tmp_path / "pid").read_text())), "the subprocess has ended")


def test_a_grading_process_that_warms_up_ends_at_once_where_nobody_needs_it(tmp_path: Path) -> None:
    """With its sandbox, and not seconds later, when it is warm."""
    settings = Settings(data=tmp_path / "data", allow_one_wall=True, gpu_slots=0)
    database = installation.opened(settings)
    before = descendants(os.getpid())
    crew = WorkerSupervisor(database, partial(grading_entry.start, settings, 1 << 30), 1)
    process = crew._processes[0]._process
    until(lambda: catches(process.pid, signal.SIGUSR1), "it may be told to end")
    started = descendants(os.getpid()) - before
    try:
        crew.drain(60.0)
    finally:
        database.close()

    assert process.returncode == 0
    assert len(started) >= 2, "the grading process and its zygote"
    until(lambda: not any(map(is_running, started)), "all have ended")


def catches(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ulimit -v"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "ulimit -v"),
        (MemoryError(), "ulimit -v"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    refused: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is neither a fault of the grader nor of the code, and whoever started it can do something about it."""

    def refuse() -> None:
        raise refused

    monkeypatch.setattr(cli.operations.doctor, "probe", refuse)

    assert main(["doctor"]) == 1
    complaint = capsys.readouterr().err
    assert (said in complaint, complaint.count("\n")) == (True, 1)


def test_an_error_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is missing says nothing of the machine."""

    def refuse() -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file", "ours")

    monkeypatch.setattr(cli.operations.doctor, "probe", refuse)
    with pytest.raises(FileNotFoundError):
        main(["doctor"])


@pytest.mark.parametrize("limit", ["-n 8", "-v 300000"])
def test_a_shell_that_allows_too_little_is_told(limit: str) -> None:
    """For real, with the limits that a shell sets, before torch is imported and in the midst of it."""
    command = f"ulimit {limit}; exec {sys.executable} -m grader grade softmax {ANSWER}"
    told = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)

    assert told.returncode == 1
    assert f"ulimit {limit.split()[0]}" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("limit", ["-t 4", "-v 2000000", "-d 1000000"])
def test_a_shell_that_allows_a_run_less_than_it_is_promised_is_told(limit: str) -> None:
    """Nobody can raise that; a run under lower limits would be blamed for what it may use."""
    command = f"ulimit {limit}; exec {sys.executable} -m grader grade softmax {ANSWER}"
    few = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # each takes memory, and there may be many cores
    told = subprocess.run(["bash", "-c", command], cwd=ROOT, env=few, capture_output=True, text=True)

    assert (told.returncode, told.stdout) == (1, "")
    option, number = limit.split()
    assert f"`ulimit {option}` is {number} here, and a run here needs" in told.stderr


def test_a_service_that_could_grade_nothing_does_not_start(tmp_path: Path) -> None:
    """Each submission would be tried three times, and told that something of ours broke."""
    command = f"ulimit -t 12; exec {sys.executable} -m grader serve"  # a start takes half of it on a slow machine
    environment = os.environ | {
        "ATTENTION_GYM_DATA": str(tmp_path / "data"),
        "ATTENTION_GYM_PORT": str(free_port()),
        "ATTENTION_GYM_ALLOW_ONE_WALL": "yes",
    }
    told = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert (told.returncode, told.stdout) == (1, "")
    assert "`ulimit -t` is 12 here, and a run here needs" in told.stderr
    assert "Traceback" not in told.stderr


def test_the_plugin_tells_a_limit_without_an_apology(tmp_path: Path) -> None:
    """It is not our fault, and whoever started it can raise it."""
    answer = ROOT / "reference" / "copy_task.py"  # a run may take 15 s, more than pytest takes on a slow machine
    run = f"{sys.executable} -m pytest -q -x -p no:cacheprovider --exercise copy_task {answer}"
    told = subprocess.run(["bash", "-c", f"ulimit -t 12; exec {run}"], cwd=ROOT, capture_output=True, text=True)

    assert "`ulimit -t` is 12 here" in told.stdout
    assert "our fault" not in told.stdout


@pytest.mark.parametrize("away", ["2>&-", "2>/dev/full"])
def test_a_refusal_that_nobody_can_read_has_its_exit_code(away: str) -> None:
    """Scripts ask for it."""
    command = f"exec {sys.executable} -m grader grade no_such_exercise {ANSWER} {away}"

    assert subprocess.run(["bash", "-c", command], cwd=ROOT).returncode == 2


def test_a_log_that_is_full_holds_up_no_stop() -> None:
    """The program that should read it may be stuck."""
    code = (
        "import os, signal; from grader import stopping; reading, full = os.pipe(); os.set_blocking(full, False)\n"
        "try:\n    while True: os.write(full, bytes(4096))\nexcept BlockingIOError: os.set_blocking(full, True)\n"
        "os.dup2(full, 2); stopping.stop_at_once(); os.kill(os.getpid(), signal.SIGTERM)"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60)

    assert told.returncode == 128 + signal.SIGTERM


def test_temporary_files_of_a_killed_service_go_at_the_next_start(tmp_path: Path) -> None:
    """Those of a running one stay, and whatever else somebody has put there."""
    code = (
        "import sys, tempfile; from grader import installation; from grader.settings import Settings; from pathlib "
        "import Path; kept = installation.keep_temporary_files(Settings(data=Path(sys.argv[1])));"
        "tempfile.mkdtemp(); print(kept.name, flush=True); sys.stdin.read()"
    )

    def begun() -> tuple[subprocess.Popen[str], Path]:
        command = [sys.executable, "-c", code, str(tmp_path / "data")]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    (killed, left), (running, used) = begun(), begun()
    killed.kill()
    killed.communicate()
    (left.parent / "note").write_text("somebody's own")
    ended, own = begun()
    seen = set(left.parent.glob("[!0-9a-f]*"))  # without the locks of those who live
    ended.communicate()
    after = set(left.parent.glob("[!0-9a-f]*"))
    running.communicate()

    assert left.parent == tmp_path / "data" / "temporary"
    assert seen == {used, own, left.parent / "note"}
    assert after == {used, left.parent / "note"}


def test_temporary_files_go_where_they_went_before_once_their_folder_is_removed(tmp_path: Path) -> None:
    """A command that ends there may be one of several in its process."""
    before = tempfile.gettempdir(), dict(os.environ)
    with installation.keep_temporary_files(Settings(data=tmp_path / "data")) as own:
        within = tempfile.gettempdir(), os.environ["TMPDIR"], os.environ["GRADIO_TEMP_DIR"]

    assert set(within) == {own}
    assert (tempfile.gettempdir(), dict(os.environ)) == before
