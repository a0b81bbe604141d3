"""The command line, called as a function where that shows the same, and as a program where only that does."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.checks.finding import Verdict
from grader.cli.grade import warn_without_walls
from grader.cli.main import main
from grader.cli.text import body
from grader.exercise.catalog import ROOT
from grader.exercise.spec import Dimension
from grader.installation import opened
from grader.judge.report import CheckResult, Diagnosis, Property, Report, Status
from grader.sandbox.plain import PlainBox
from grader.service.classes.answers import Classes
from grader.settings import Settings
from grader.store.records import Role, User, UserId

EXAMPLES = ROOT / "exercises" / "causal_attention" / "examples"
RIGHT, WRONG = EXAMPLES / "right_plain.py", EXAMPLES / "wrong_diagonal_two.py"
LOUD = EXAMPLES / "right_loud.py"
KEYS = {
    "file": str,
    "exercise": str,
    "status": str,
    "score": float,
    "dimensions": dict,
    "checks": list,
    "diagnosis": list,
    "advice": list,
    "panels": list,
    "mapping": dict,
    "reason": str,
    "output": str,
    "seed": int,
    "device": str,
    "seconds": float,
    "box": str,
}

WHY = (
    "is a folder",
    "there is no file",
    "is no ordinary file",
    "is a link to one that is not there",
    "is a link to 'right.py'; name that file",
    "is the same file as",
)

Answer = tuple[int, str, str]
Ask = Callable[..., Answer]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Return a function that runs a command and gives its exit code and what it wrote to both streams."""

    def run(*arguments: object) -> Answer:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """Return the finished program that graded a right file, a wrong one, a loud one and a huge one."""
    huge = tmp_path_factory.mktemp("huge") / "huge.py"
    with huge.open("wb") as file:
        file.truncate(1 << 40)  # a hole on the disk; reading it whole would take all memory
    files = [RIGHT, WRONG, LOUD, huge]
    command = [sys.executable, "-m", "grader", "grade", "causal_attention", *map(str, files), "--json", "--seed", "7"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def reports(graded: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return the reports on the right, the wrong, the loud and the huge file."""
    return [json.loads(line) for line in graded.stdout.splitlines()]


def test_json_is_one_object_per_file_whatever_the_scores(
    graded: subprocess.CompletedProcess[str], reports: list[dict[str, Any]]
) -> None:
    """In the given order, with what the file printed in it; a wrong file and a rejected one are results, no failures.

    What scripts rely on is there in every object, of the same type, and what is needed to repeat it.
    """
    assert (graded.returncode, graded.stderr) == (0, "")
    assert [Path(report["file"]).name for report in reports] == [RIGHT.name, WRONG.name, LOUD.name, "huge.py"]
    assert [bool(report["output"]) for report in reports] == [False, False, True, False]
    for report in reports:
        assert {key: type(report[key]) for key in KEYS} == KEYS
        assert (report["seed"], report["device"], report["box"]) == (7, "cpu", reports[0]["box"])


def test_a_right_file_gets_full_marks(reports: list[dict[str, Any]]) -> None:
    """Every check of a right file passes, in every dimension, and its weights were found."""
    right = reports[0]

    assert (right["status"], right["score"], right["reason"]) == ("graded", 100.0, "")
    assert set(right["dimensions"]) == {"shapes", "numerics", "masking", "gradients"}
    assert all(points["earned"] == points["possible"] > 0 for points in right["dimensions"].values())
    assert {check["status"] for check in right["checks"]} == {"passed"}
    assert set(right["mapping"]) == {"W_query", "W_key", "W_value"}


def test_a_wrong_file_is_told_its_mistake(reports: list[dict[str, Any]]) -> None:
    """The diagnosis names the mistake, says it in words, and says that it is sure."""
    wrong = reports[1]

    assert [(likely["mistake"], likely["certain"]) for likely in wrong["diagnosis"]] == [("sees_one_ahead", True)]
    assert wrong["diagnosis"][0]["message"].startswith("Your mask starts one position too late.\n\n")
    assert wrong["dimensions"]["masking"]["earned"] < wrong["dimensions"]["masking"]["possible"]
    assert wrong["score"] < 100


def test_a_huge_file_is_rejected_without_being_read_whole(reports: list[dict[str, Any]]) -> None:
    """A file of one tebibyte is turned away with a reason, and counts no check."""
    huge = reports[3]

    assert (huge["status"], huge["score"], huge["checks"]) == ("rejected", 0.0, [])
    assert "256 KiB" in huge["reason"]


@pytest.mark.usefixtures("warm")
def test_each_file_gets_its_report_or_its_line(ask: Ask, tmp_path: Path) -> None:
    """What is no file, or another one's, or draws numbers near the end of float64, stops none of the others."""
    huge, pipe = tmp_path / "huge.py", tmp_path / "pipe.py"
    huge.write_text("import torch\ndef softmax(x, dim=-1):\n    return torch.full_like(x, 1.7e308)\n")
    os.mkfifo(pipe)
    right = tmp_path / "right.py"
    shutil.copy(ROOT / "exercises" / "softmax" / "examples" / "right_constant_of_the_file.py", right)
    (tmp_path / "dangling.py").symlink_to("nowhere.py")
    (tmp_path / "link.py").symlink_to("right.py")
    os.link(right, tmp_path / "same.py")
    names = ("nowhere", "pipe", "dangling", "huge", "link", "right", "same")
    files = [tmp_path / f"{name}.py" for name in names]

    code, out, err = ask("grade", "softmax", tmp_path, *files, "--json", "--plots", tmp_path / "pictures")

    assert (code, [json.loads(line)["score"] == 100 for line in out.splitlines()]) == (2, [False, True])
    said = [line for line in err.splitlines() if not line.startswith("wrote")]
    assert [why for line, why in zip(said, WHY, strict=True) if why not in line] == []


@pytest.mark.usefixtures("warm")
def test_text_shows_what_failed_first(ask: Ask) -> None:
    """A person reads the score, then the diagnosis, then the failed checks with their messages, then the others."""
    code, out, _ = ask("grade", "causal_attention", WRONG, "--seed", "5")
    marks = [line[0] for line in out.splitlines() if line[:2] in ("✗ ", "- ", "✓ ")]

    assert code == 0
    assert "seed 5" in out
    assert marks == sorted(marks, key="✗-✓".index)
    assert {"✗", "✓"} <= set(marks)
    assert out.index("of 100") < out.index("masking") < out.index("What happened: Your mask starts") < out.index("✗")
    assert "\x1b" not in out


def test_text_says_what_the_answer_does_and_names_two_mistakes() -> None:
    """A property has its mark, what it teaches and what was seen; two mistakes are the first and the second."""
    two = tuple(Diagnosis(name, f"{name}.", "why", certain=True) for name in ("One", "Other"))
    report = Report("toy", Status.GRADED, 50.0, 0, "cpu", 0.1, diagnosis=two)
    taught = (Property("rows add up", "shares of a whole", False, "row 3 adds up to 2"),)

    lines = [line.plain for line in body(replace(report, properties=taught))]

    start = lines.index("What your attention does in the cases that look at it")
    assert lines[start : start + 4] == [
        "What your attention does in the cases that look at it",
        "    ✗ rows add up",
        "      shares of a whole",
        "      row 3 adds up to 2",
    ]
    assert "Two mistakes together: the first by itself: One." in lines
    assert "Two mistakes together: the second by itself: Other." in lines


def test_text_says_once_what_several_checks_in_a_row_have_failed_for() -> None:
    """A starter fails all checks by one exception; it stood below each of them. What passed is counted."""
    failing = (("one", "NotImplementedError"), ("two", "NotImplementedError"), ("three", "another"))
    checks = tuple(CheckResult(name, Dimension.SHAPES, Verdict.FAILED, 0.0, 2.0, why) for name, why in failing)
    checks += tuple(CheckResult(name, Dimension.NUMERICS, Verdict.PASSED, 2.0, 2.0) for name in ("four", "five"))
    report = Report("toy", Status.GRADED, 0.0, 0, "cpu", 0.1, checks=checks)

    lines = [line.plain for line in body(report)]

    assert lines[lines.index("✗ one  0 of 2") :][:6] == [
        "✗ one  0 of 2",
        "✗ two  0 of 2",
        "    all 2: NotImplementedError",
        "✗ three  0 of 2",
        "    another",
        "✓ numerics: 2 passed",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("grade", "causal_atention", RIGHT), "did you mean causal_attention"),
        (("grade", "CausalAttention", RIGHT), "did you mean causal_attention"),
        (("grade", "../exercises/softmax", RIGHT), "there is no exercise"),
        (("grade", "zzz", RIGHT), "exercise list"),
        (("grade", "causal_attention", "nowhere.py"), "there is no file 'nowhere.py'"),
        (("grade", "causal_attention", EXAMPLES), "is a folder"),
        (("grade", "causal_attention"), "files"),
        (("grade", "causal_attention", RIGHT, "--seed", "-1"), "the seed is -1; it must be 0 or more"),
        (("grade", "causal_attention", RIGHT, "--seed", "two"), "--seed"),
        (("grade", "causal_attention", RIGHT, "--device", "tpu"), "--device"),
        (("grade", "causal_attention", RIGHT, "--colour"), "--colour"),
        (("exercise", "check"), "--all"),
        (("exercise", "check", "softmx"), "did you mean softmax"),
        (("exercise", "new", "Not-Snake"), "snake_case"),
        (("exercise", "new", "softmax"), "is there already"),
        (("exercise", "start", "softmx"), "did you mean softmax"),
        (("frobnicate",), "frobnicate"),
        (("exercise",), "Missing command"),
    ],
)
def test_wrong_use_is_one_line_on_standard_error(ask: Ask, arguments: tuple[object, ...], said: str) -> None:
    """Exit code 2, one clear line, and nothing on standard output."""
    code, out, err = ask(*arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_no_command_at_all_shows_the_help(ask: Ask) -> None:
    """Whoever types the bare name sees the commands; scripts still see exit code 2 and one line of complaint."""
    code, out, err = ask()

    assert (code, err.count("\n")) == (2, 1)
    assert "name a command" in err
    assert out == ask("--help")[1] != ""


@pytest.mark.parametrize("arguments", [["--help"], ["exercise", "list"], ["doctor"], ["grade", "zzz", str(RIGHT)]])
def test_a_command_that_computes_nothing_does_not_wait_for_torch(arguments: list[str]) -> None:
    """Importing torch takes seconds; what needs none of it answers at once."""
    if arguments == ["doctor"] and torch.cuda.is_available():
        pytest.skip("the GPU's name is torch's to say")
    program = (
        "import sys; from grader.cli.main import main\n"
        f"main({arguments}); print('torch' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "False"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_whose_output_is_closed_ends_as_if_it_were_not(closed: str) -> None:
    """Python has no stream then; there is nothing to be flushed, and no traceback."""
    command = f"{sys.executable} -m grader exercise list {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_gpu_that_is_not_there_is_refused(ask: Ask) -> None:
    """Asking for CUDA where torch finds none is a wrong use, not a crash."""
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")

    code, out, err = ask("grade", "causal_attention", RIGHT, "--device", "cuda")

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no GPU" in err


def test_a_plain_subprocess_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a sandbox a banner on standard error says what the file can do."""
    warn_without_walls(PlainBox())
    said = capsys.readouterr()

    assert said.out == ""
    assert "No sandbox here" in said.err


def test_start_writes_the_starter_once(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The starter is written to solutions/, and what a student has written there is never lost."""
    monkeypatch.chdir(tmp_path)
    first = ask("exercise", "start", "softmax")
    file = tmp_path / "solutions" / "softmax.py"
    starter = (ROOT / "exercises" / "softmax" / "starter.py").read_text(encoding="utf-8")

    assert first[0] == 0
    assert file.read_text(encoding="utf-8") == starter

    file.write_text("mine", encoding="utf-8")
    code, out, err = ask("exercise", "start", "softmax")

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert file.read_text(encoding="utf-8") == "mine"


def test_list_shows_every_exercise(ask: Ask) -> None:
    """Each exercise has a line that begins with its id."""
    code, out, _ = ask("exercise", "list")
    first_words = {line.split()[0] for line in out.splitlines() if line.startswith("  ")}

    assert code == 0
    assert first_words == {path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml")}


def test_doctor_names_the_tier(ask: Ask) -> None:
    """The walls are listed, and the exit code says whether the service would start."""
    code, out, _ = ask("doctor")

    assert "system call filter" in out
    assert code == (0 if "tier A" in out or "tier B" in out else 1)


def test_user_add_makes_an_account_once(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instructor is added with a password from standard input; the same name is refused the second time."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path))
    answers = []
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough password\n"))
        answers.append(ask("user", "add", "Ada", "--instructor", "--password-stdin"))

    assert answers[0][:2] == (0, "Ada can sign in now, as an instructor\n")
    assert (answers[1][0], answers[1][1], answers[1][2].count("\n")) == (2, "", 1)


def test_user_reset_says_where_its_link_goes(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link alone is on standard output."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough password\n"))
    ask("user", "add", "Ada", "--password-stdin")
    code, out, err = ask("user", "reset", "Ada")

    assert (code, out.partition("=")[0], out.count("\n")) == (0, "/reset?token", 1)
    assert err.startswith("Append this to the address of your pages")


def test_an_administrator_sees_all_classes_until_that_ends(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has no account cannot be one."""
    monkeypatch.setenv("ATTENTION_GYM_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough password\n"))
    ask("user", "add", "Ada", "--password-stdin")
    seen, ada = [], User(UserId(1), "Ada", Role.STUDENT)
    for words in (("Ada",), ("ada", "--end"), ("Bob",)):
        code, out, err = ask("user", "administrator", *words)
        with closing(opened(Settings.from_environment())) as database:
            seen.append((code, out, len(Classes(database, clock=time.time).looked_after_by(ada))))

    assert seen == [
        (0, "Ada is an administrator now; all classes are at /classes\n", 1),
        (0, "Ada is no administrator any more\n", 0),
        (2, "", 0),
    ]
    assert err == "There is no account called 'Bob'.\n"


def test_a_new_exercise_fails_the_gate_in_sentences(tmp_path: Path) -> None:
    """`exercise new` writes files that load and run; the gate says what they lack, and exits with 1.

    They have a right and a wrong example, which get their verdicts. Nothing in them is about attention.
    """
    for folder in ("grader", "reference", "exercises"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "pages"))
    command = [sys.executable, "-m", "grader", "exercise"]
    new = subprocess.run([*command, "new", "bare_scores"], cwd=tmp_path, capture_output=True, text=True, check=False)
    check = subprocess.run(
        [*command, "check", "bare_scores"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    complaints = [line for line in check.stdout.splitlines() if line.startswith("  - ")]

    assert (new.returncode, check.returncode, check.stderr) == (0, 1, "")
    pairs = [line for line in complaints if "are equal in no case" in line]
    assert len(pairs) == 3  # of batch, time and width
    assert [line for line in complaints if line not in pairs] == [
        "  - `mistakes.py` holds 1 of at least 8 known mistakes; write the others",
        "  - there are no hints; write at least one",
    ]
    written = [Path(line.removeprefix("wrote ")) for line in new.stdout.splitlines() if line.startswith("wrote ")]
    examples = [path.name for path in written if path.parent.name == "examples"]
    assert examples == ["right_einsum.py", "wrong_powers.py"]
    assert [path.name for path in written if re.search("softmax|query|weights", path.read_text("utf-8"))] == []
