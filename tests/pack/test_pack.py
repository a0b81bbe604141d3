"""Packs, written to a folder and used there as a student would: by pytest, with the package that is installed."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.box.run import Box
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.judge.grade import observe_reference
from grader.judge.sheet import draw_up, of_cases
from grader.pack import check
from grader.pack.check import Damaged, read_cases, read_pack
from grader.pack.write import contents, write_cases, write_folder, write_zip
from tests.conftest import LentBox

PACKED = ("softmax", "causal_attention", "copy_task")  # a function; dropout, decoded, and made cases; a training
SEED = 3
Pack = Callable[[str], Path]


@pytest.fixture(scope="module")
def packed(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bytes]]:
    """Return a function that gives what a pack of an exercise holds, which is the same for all tests."""
    place = tmp_path_factory.mktemp("patient")
    return functools.cache(lambda name: contents(_patient(catalog[name], place), SEED))


@pytest.fixture
def pack(tmp_path: Path, packed: Callable[[str], dict[str, bytes]]) -> Pack:
    """Return a function that writes the pack of an exercise and gives its folder."""

    def write(name: str) -> Path:
        write_folder(packed(name), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def warm_pack(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have packs grade in the box that all tests share; what they grade in elsewhere is tested by running pytest."""
    monkeypatch.setattr(check, "PlainBox", lambda: LentBox(box))


def _patient(exercise: Exercise, place: Path) -> Exercise:
    """Copy an exercise without time limits of its own: what is right must not time out on a busy machine."""
    folder = place / exercise.id
    shutil.copytree(exercise.folder, folder)
    written = (folder / "exercise.toml").read_text(encoding="utf-8")
    kept = re.sub(r"\n\[limits\]|\n(?:cpu|wall)_seconds = .*", "", written).rstrip("\n")
    limits = "[limits]\ncpu_seconds = 250.0\nwall_seconds = 250.0\n"
    (folder / "exercise.toml").write_text(f"{kept}\n\n{limits}", encoding="utf-8")
    return replace(exercise, folder=folder)


def _answer(folder: Path, example: str) -> None:
    """Put an example in the place of the pack's starter."""
    text = (ROOT / "exercises" / folder.name / "examples" / f"{example}.py").read_text(encoding="utf-8")
    (folder / f"{folder.name}.py").write_text(text, encoding="utf-8")


def _pytest(folder: Path, *arguments: str, plugins: bool = False) -> subprocess.CompletedProcess[str]:
    """Run pytest in a pack; `plugins` of whatever is installed beside it may load themselves."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    environment = kept if plugins else {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-v", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize(
    ("name", "example"),
    [("softmax", "right_two_lines"), ("causal_attention", "right_plain"), ("copy_task", "right_plain")],
)
def test_a_right_answer_passes_with_every_item(name: str, example: str, pack: Pack) -> None:
    """In the folder of the pack, by the package that is installed."""
    folder = pack(name)
    _answer(folder, example)

    done = _pytest(folder)

    lines = read_pack(folder).lines
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in lines if f"test_answer[{line}] PASSED" not in done.stdout] == []
    assert f"{len(lines)} passed" in done.stdout
    assert f"100 of 100 points, seed {SEED}" in done.stdout


def test_a_wrong_answer_fails_where_it_is_wrong(pack: Pack, catalog: Catalog) -> None:
    """With the message of the line and, once, the hints; a grader that is installed as a plugin stays out of it.

    Once among the failures: pytest's summary repeats messages, whole ones where `CI` is set.
    """
    folder = pack("causal_attention")
    _answer(folder, "wrong_diagonal_two")

    done = _pytest(folder, plugins=True)

    verdicts = dict(re.findall(r"test_answer\[(.+)\] (PASSED|FAILED|SKIPPED)", done.stdout))
    assert done.returncode == 1, done.stdout + done.stderr
    assert verdicts["five tokens: shape and dtype"] == "PASSED"
    assert verdicts["five tokens: attention pattern"] == "FAILED"
    assert verdicts["five tokens: batch rows are independent"] == "PASSED"
    assert verdicts["five tokens: gradient values"] == "SKIPPED"
    assert "changing `x` at time 1 must not change `context` at time 0" in done.stdout
    failures, _, _ = done.stdout.partition("short test summary info")
    assert [failures.count(hint) for hint in catalog["causal_attention"].hints] == [1, 1, 1]
    assert "Traceback" not in done.stdout


@pytest.mark.usefixtures("warm_pack")
def test_the_starter_earns_nothing_and_is_told_where_to_begin(pack: Pack) -> None:
    """Nothing passes, and the first message says where the code goes."""
    folder = pack("softmax")
    kept = read_pack(folder)

    report = kept.grade(folder / "softmax.py")

    assert report.score == 0
    assert "NotImplementedError: write your softmax here" in kept.verdict(report, kept.lines[0])[1]


@pytest.mark.usefixtures("warm_pack")
def test_a_file_that_cannot_be_loaded_fails_every_line(pack: Pack) -> None:
    """Each with the reason."""
    folder = pack("softmax")
    (folder / "softmax.py").write_text("def softmax(x, dim=-1:\n", encoding="utf-8")
    kept = read_pack(folder)

    report = kept.grade(folder / "softmax.py")

    assert {kept.verdict(report, line) for line in kept.lines} == {("failed", f"rejected: {report.reason}")}
    assert "line 1" in report.reason


@pytest.mark.usefixtures("warm_pack")
def test_what_insists_on_float32_is_judged_in_float32(pack: Pack) -> None:
    """The pack holds what rounding alone does to the reference."""
    folder = pack("softmax")

    report = read_pack(folder).grade(ROOT / "exercises" / "softmax" / "examples" / "right_insists_on_float32.py")

    assert (report.score, report.dtype) == (100.0, "float32")


@pytest.mark.usefixtures("warm_pack")
def test_forbidden_operations_are_trapped(pack: Pack) -> None:
    """As in the sandbox."""
    folder = pack("softmax")
    (folder / "softmax.py").write_text("import torch\n\n\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n")

    report = read_pack(folder).grade(folder / "softmax.py")

    assert report.score == 0
    assert "is not allowed in this exercise" in report.checks[0].message


@pytest.mark.parametrize("name", PACKED)
def test_a_pack_holds_the_cases_and_what_the_reference_gives(name: str, pack: Pack, catalog: Catalog) -> None:
    """Bit for bit, with the same lines."""
    kept, sheet = read_pack(pack(name)), draw_up(catalog[name], SEED)
    expected, rounded = observe_reference(catalog[name], sheet.plan)

    assert [(item.name, item.points) for item in kept.sheet.items] == [(item.name, item.points) for item in sheet.items]
    assert [call.name for call in kept.sheet.plan.calls] == [call.name for call in sheet.plan.calls]
    for seen, truth in zip(kept.truth(sheet.plan), (expected, rounded), strict=True):
        assert list(seen.calls) == list(truth.calls)
        for call in truth.calls:
            for key, slot in truth.calls[call].slots.items():
                there = seen.calls[call].slots[key].tensor
                assert (there is None) == (slot.tensor is None)
                assert there is None or torch.equal(there.nan_to_num(), slot.tensor.nan_to_num())


@pytest.mark.parametrize("name", PACKED)
def test_a_pack_gives_nothing_away(name: str, pack: Pack, catalog: Catalog) -> None:
    """No line of the reference that is not the starter's, no mistake's name or words, and no module but its own."""
    exercise, folder = catalog[name], pack(name)
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.suffix != ".bin" and path.is_file()
    }
    own = {line.strip() for text in texts.values() for line in text.splitlines()}
    given = {line.strip() for line in f"{exercise.starter}\n{exercise.statement}".splitlines()}
    secret = {line.strip() for line in exercise.reference_path.read_text(encoding="utf-8").splitlines()} - given
    everything = "\n".join(texts.values())

    # Shorter ones are `super().__init__()` and the like.
    assert [line for line in secret & own if len(line) > 24 and not line.startswith(("import ", "from "))] == []
    assert [m.name for m in exercise.mistakes if "_" in m.name and re.search(rf"\b{m.name}\b", everything)] == []
    assert [m.title for m in exercise.mistakes if m.title in everything] == []
    assert {path for path in texts if path.endswith(".py")} == {f"{name}.py", f"test_{name}.py", "conftest.py"}


@pytest.mark.parametrize("file", ["exercise.toml", "cases.bin", "expected.bin", "rounded.bin", "pack.json"])
def test_a_damaged_file_is_told_by_its_name(file: str, pack: Pack) -> None:
    """Changed, cut short, or gone."""
    folder = pack("softmax")
    path = folder / "data" / file
    whole = path.read_bytes()

    for damaged in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], None):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(Damaged, match=re.escape(f"`data/{file}` of this pack")):
            read_pack(folder)


def test_pytest_shows_the_damage_in_one_line(pack: Pack) -> None:
    """And no traceback."""
    folder = pack("softmax")
    with (folder / "data" / "expected.bin").open("ab") as file:
        file.write(b"x")

    done = _pytest(folder)

    assert done.returncode != 0
    assert "`data/expected.bin` of this pack was changed since the pack was written" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_zip_holds_the_folder_and_is_the_same_each_time(tmp_path: Path, catalog: Catalog) -> None:
    """So that two teachers hand out the same bytes."""
    files = contents(catalog["softmax"], SEED)
    for place in ("one", "two"):
        write_zip(contents(catalog["softmax"], SEED), tmp_path / place / "softmax.zip")

    with zipfile.ZipFile(tmp_path / "one" / "softmax.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}

    assert held == {f"softmax/{name}": content for name, content in files.items()}
    one, two = ((tmp_path / place / "softmax.zip").read_bytes() for place in ("one", "two"))
    assert one == two


def test_the_cases_of_every_exercise_can_be_packed(catalog: Catalog) -> None:
    """They come back with every name, size and scalar of theirs, and a tensor wherever there was one."""
    fields = ("name", "title", "sizes", "construct", "outputs", "wants", "axes", "dtype", "made", "shares", "part")
    for exercise in catalog.values():
        drawn = exercise.cases(SEED)
        kept = read_cases(exercise.spec, write_cases(drawn, of_cases(exercise.spec, drawn).plan), SEED)
        for name, case in drawn.items():
            assert [getattr(kept[name], field) for field in fields] == [getattr(case, field) for field in fields]
            assert {n: type(value) for n, value in kept[name].arguments.items()} == {
                n: type(value) for n, value in case.arguments.items()
            }
            assert (kept[name].decode is None) == (case.decode is None)
