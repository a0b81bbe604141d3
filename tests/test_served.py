"""The service as its own program, from a careless shell: what it writes down, for whom, and what its log says."""

from __future__ import annotations

import getpass
import json
import os
import pty
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from grader.exercise.catalog import ROOT
from grader.pages.server import about_the_code, address_of, is_seen_by_a_person
from grader.settings import Settings
from grader.store import keys
from tests.machine import Disk, free_port, small_disk
from tests.pages.conftest import wait_for
from tests.store.test_private import read_by_another_user

PASSWORD, WRONG, MARK = "a quiet password", "a wrong password", "telltale_in_the_source"
CRASHES = f"def softmax(x, dim=-1):\n    {MARK} = 1\n    raise RuntimeError('{MARK}')\n"
KILLED = f"import os\n{MARK} = 1\nos.kill(os.getpid(), 9)\n"
# Where libraries put temporary files unless told otherwise; another user of the machine may have taken these names.
SQUATTED = ("gradio", "torchinductor_root", f"torchinductor_{getpass.getuser()}", "matplotlib", "huggingface")
COMMAND = [sys.executable, "-m", "grader"]


@dataclass
class Served:
    """The running service: its address, its folders, and what must be in no log and on no command line."""

    url: str
    data: Path
    scratch: Path
    environment: dict[str, str]
    secrets: dict[str, str]
    pid: int
    log: Path
    disk: Disk | None

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the command line from a shell that makes everything for everybody."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=ROOT, env=self.environment, umask=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def command(self, *arguments: str) -> str:
        with self.begin(*arguments) as process:
            said, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        return said

    def modes(self) -> dict[str, int]:
        """Return the modes of all that was made, in the data folder and among the temporary files."""
        found = [path for top in (self.data, self.scratch) for path in (top, *top.rglob("*"))]
        return {str(path): stat.S_IMODE(path.lstat().st_mode) for path in found if path.exists()}

    def command_lines(self) -> str:
        """Return the command lines of the service's processes, as every user of the machine may read them."""
        waiting, lines = [self.pid], []
        while waiting:
            pid = waiting.pop()
            lines.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
            children = Path(f"/proc/{pid}/task").glob("*/children")
            waiting += [int(child) for file in children for child in file.read_text().split()]
        assert len(lines) > 1
        return "\n".join(lines)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Serve on a small disk that everybody may enter, with a umask of 0; let a few people come by."""
    with small_disk() as disk, tempfile.TemporaryDirectory() as place:
        top, port = disk.folder if disk else Path(place), free_port()
        top.chmod(0o755)
        (top / "tmp").mkdir(0o700)
        for name in SQUATTED:
            (top / "tmp" / name).touch(0o600)
        environment = os.environ | {
            "TMPDIR": str(top / "tmp"),
            "ATTENTION_GYM_DATA": str(top / "data"),
            "ATTENTION_GYM_PORT": str(port),
            "ATTENTION_GYM_SLOTS": "1",
            "ATTENTION_GYM_ALLOW_ONE_WALL": "yes",
            "ATTENTION_GYM_DRAIN_SECONDS": "1",
        }
        with (top / "log").open("wb") as log, subprocess.Popen(
            [*COMMAND, "serve"], cwd=ROOT, env=environment, umask=0, stdout=log, stderr=log
        ) as process:  # fmt: skip
            found = Served(
                f"http://127.0.0.1:{port}", top / "data", top / "tmp", environment, {}, process.pid, top / "log", disk
            )
            try:
                wait_for(lambda: process.poll() is not None or b"Attention Gym is at" in found.log.read_bytes(), 120)
                assert process.poll() is None, found.log.read_text()
                wait_for(lambda: _answers(found.url))
                visit(found)
                yield found
            finally:
                process.terminate()
                process.wait(60)
            assert list((top / "data" / "temporary").iterdir()) == [], "temporary files go with the service"


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


def visit(served: Served) -> None:
    code = (served.data / "class_code").read_text()
    adding = served.begin("user", "add", "Prof Watchful", "--instructor", "--password-stdin")
    with httpx.Client(base_url=served.url, timeout=60) as browser:
        for n in range(40):
            form = {"name": "Eve", "password": PASSWORD, "class_code": f"wrong {n}"}
            assert browser.post("/register", data=form).status_code == 403
        form = {"name": "Ada Lovely", "password": PASSWORD, "class_code": code}
        assert browser.post("/register", data=form).status_code == 303
        assert browser.post("/sign-in", data={"name": "Ada Lovely", "password": WRONG}).status_code == 403
        for exercise, source in (("softmax", CRASHES), ("causal_mask", KILLED)):
            event = {"data": [exercise, source], "session_hash": "test"}
            sent = browser.post("/gradio_api/run/submit", json=event)
            browser.get(f"/runs/{sent.json()['data'][0]}")  # up to the verdict
        token = browser.cookies["attention_gym"]
    with adding:
        adding.communicate(f"{PASSWORD}\n", timeout=120)
    with sqlite3.connect(served.data / "attention_gym.sqlite3") as raw:
        seeds = [str(seed) for (seed,) in raw.execute("SELECT seed FROM submissions")]
        hashes = [text for (text,) in raw.execute("SELECT password FROM users")]
    raw.close()
    assert (len(seeds), len(hashes)) == (2, 2)
    served.secrets = {
        "the class code": code, "a password": PASSWORD, "a wrong password": WRONG, "a session": token,
        "the secret": (served.data / "secret").read_text(), "a source": MARK,
        **{f"seed {seed}": seed for seed in seeds}, **{f"hash {text}": text for text in hashes},
    }  # fmt: skip


def test_all_that_a_running_service_writes_is_for_its_owner_alone(served: Served) -> None:
    """The database with its log, secrets, signs of life, the sandbox's scratch folders and what libraries leave."""
    seen = served.modes()
    names = {Path(path).name for path in seen}

    assert {"attention_gym.sqlite3-wal", "secret", "class_code", "workers"} <= names
    assert [path for path, mode in seen.items() if mode & 0o077] == []


def test_a_service_puts_no_file_into_the_folder_that_all_users_share(served: Served) -> None:
    """Another user who has taken the names that libraries use there stops nothing; it all lies in the data folder."""
    assert {path.name for path in served.scratch.iterdir()} == set(SQUATTED)
    assert [path.name for path in (served.data / "temporary").iterdir() if path.name.startswith("process-")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_of_the_machine_reads_nothing_of_it(served: Served) -> None:
    """But the log, which is whoever's who started the service, and lies beside the data here."""
    assert read_by_another_user(served.data.parent) == {f"{served.data.parent.name}/", "log"}


def test_nothing_secret_is_logged_or_on_a_command_line(served: Served) -> None:
    """After right and wrong passwords, guessed codes and code that crashes; the log tells of the guessing."""
    log, lines = served.log.read_text(), served.command_lines()

    assert "many wrong class codes came from '127.0.0.1'" in log
    assert [what for what, text in served.secrets.items() if text in log] == []
    assert [what for what, text in served.secrets.items() if text in lines] == []


def test_a_service_whose_disk_is_full_is_not_ready_until_there_is_room(served: Served) -> None:
    """It lives on, names the database, and logs no trace."""
    if served.disk is None:
        pytest.skip("this system grants no small disk to fill")
    with httpx.Client(base_url=served.url, timeout=60) as monitor:
        before = monitor.get("/ready")
        served.disk.fill()
        try:
            full, alive = monitor.get("/ready"), monitor.get("/health")
        finally:
            served.disk.clear()
        after = monitor.get("/ready")

    assert [one.status_code for one in (before, full, alive, after)] == [200, 503, 200, 200]
    assert full.json() == {"ready": False, "missing": ["database"]}
    assert "Traceback" not in served.log.read_text()


def test_the_class_code_is_shown_on_request(served: Served) -> None:
    """In the log stands how; the command prints the code, and draws another one, which counts at once."""
    before, after = served.command("class-code").strip(), served.command("class-code", "--new").strip()
    with httpx.Client(base_url=served.url, timeout=60) as browser:
        forms = [{"name": f"Late {code}", "password": PASSWORD, "class_code": code} for code in (before, after)]
        taken = [browser.post("/register", data=form).status_code for form in forms]

    assert "`attention-gym class-code` shows the class code" in served.log.read_text()
    assert before == served.secrets["the class code"] == keys.class_code(served.data)
    assert before != after == served.command("class-code").strip()
    assert taken == [403, 303]
    assert [path for path, mode in served.modes().items() if mode & 0o077] == []


def test_the_class_code_is_printed_to_a_terminal_only(tmp_path: Path) -> None:
    """Not into a file, a pipe or nothing at all, nor to the terminal of a container, which goes into a log too."""
    leader, terminal = pty.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(terminal, "w") as screen, (tmp_path / "log").open("w") as file:
        seen = [is_seen_by_a_person(out, [tmp_path / "no such mark"]) for out in (screen, file, None)]
        in_a_container = is_seen_by_a_person(screen, [tmp_path / "log"])

    assert (seen, in_a_container) == ([True, False, False], False)
    assert ("green-tree" in about_the_code("green-tree", shown=True)) is True
    assert ("green-tree" in about_the_code("green-tree", shown=False)) is False


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("gym.local", "http://gym.local:80"),
        ("::1", "http://[::1]:80"),
        ("0.0.0.0", "http://localhost:80"),
        ("::", "http://localhost:80"),
    ],
)
def test_the_address_that_a_start_prints_can_be_opened(host: str, address: str) -> None:
    """An IPv6 address stands in brackets; all addresses together are none."""
    assert address_of(Settings(host=host, port=80)) == address


def test_a_given_class_code_counts_until_it_is_replaced(served: Served, tmp_path: Path) -> None:
    """The setting is the code that a class begins with; one that was drawn later takes its place for good."""
    given = {"ATTENTION_GYM_CLASS_CODE": "green-tree-house", "ATTENTION_GYM_DATA": str(tmp_path / "data")}
    environment = {name: value for name, value in served.environment.items() if "DATABASE" not in name} | given

    def shown(*more: str) -> str:
        command = [*COMMAND, "class-code", *more]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    codes = [shown(), shown("--new"), shown()]

    assert codes[0] == "green-tree-house"
    assert codes[0] != codes[1] == codes[2]


def test_settings_and_errors_do_not_show_what_they_hold(served: Served) -> None:
    """A wrong setting beside a secret one stops the start in a line without either secret."""
    environment = served.environment | {"ATTENTION_GYM_PORT": "x", "ATTENTION_GYM_SECRET": "s" * 40}
    run = subprocess.run([*COMMAND, "serve"], cwd=ROOT, env=environment, capture_output=True, text=True)

    assert (run.returncode, run.stdout) == (2, "")
    assert json.dumps("ATTENTION_GYM_PORT is 'x'")[1:-1] in run.stderr
    assert "s" * 40 not in run.stderr
