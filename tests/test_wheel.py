"""The wheel: built from this checkout and installed elsewhere, it grades without the repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from grader.exercise.catalog import ROOT
from grader.local import exercise_ids

RIGHT = """
def softmax(x, dim=-1):
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
"""
DRAWN = """
from pathlib import Path
from grader import pages
print(*sorted(one.name for name in ("assets", "templates") for one in Path(pages.__file__).with_name(name).iterdir()))
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel, built as `pip install .` builds one."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={place}", str(ROOT)]
    subprocess.run(build, check=True)
    (built,) = place.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs a command of an environment that has the wheel, and this one's other packages."""
    place = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    python = place / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)], check=True)
    (packages,) = (place / "env" / "lib").glob("python*/site-packages")
    # A folder that is named here is searched after the wheel's; links in it to a checkout have no effect.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        words = [str(python.with_name(command[0])), *command[1:]]
        return subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)

    (place / "softmax.py").write_text(RIGHT, encoding="utf-8")
    return run


def test_a_wheel_holds_every_exercise_and_no_example(wheel: Path) -> None:
    """All that grading reads is in it; what only proves the exercises is not, nor anything that is not tracked."""
    names = ZipFile(wheel).namelist()

    for exercise in exercise_ids():
        assert f"grader/content/exercises/{exercise}/exercise.toml" in names
        assert f"grader/content/reference/{exercise}.py" in names
    assert not [name for name in names if "/examples/" in name or "__pycache__" in name or "node_modules" in name]
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"grader"}


def test_an_installed_wheel_grades(installed: Run) -> None:
    """The command reads the exercise from the wheel, and its report is that of a checkout."""
    where = installed("python", "-c", "import grader; print(grader.__file__)")
    graded = installed("attention-gym", "grade", "softmax", "softmax.py", "--json")

    assert "/env/lib/" in where.stdout
    assert graded.returncode == 0, graded.stderr
    assert json.loads(graded.stdout)["score"] == 100


def test_a_pack_is_graded_by_an_installed_wheel(wheel: Path, installed: Run) -> None:
    """The pack's own requirement is this very file, and a lab's driver and checks come from there.

    It is no name: of two wheels of one version pip takes that of the index, before one beside the requirement.
    """
    right = next((ROOT / "exercises" / "kv_cache" / "examples").glob("right_*.py"))
    written = installed("attention-gym", "exercise", "pack", "kv_cache")
    installed("python", "-c", f"import shutil; shutil.copy({str(right)!r}, 'packs/kv_cache/kv_cache.py')")
    tested = installed("python", "-m", "pytest", "packs/kv_cache", "-c", "packs/kv_cache/pytest.ini")
    required = installed("python", "-c", "print(open('packs/kv_cache/requirements.txt').read())").stdout.splitlines()

    assert written.returncode == 0, written.stderr
    assert [line for line in required if line and not line.startswith("#")] == [f"./{wheel.name}"]
    assert tested.returncode == 0, tested.stdout


def test_an_installed_wheel_brings_the_plugin(installed: Run) -> None:
    """The same file, graded by pytest."""
    graded = installed("python", "-m", "pytest", "-q", "--exercise", "softmax", "softmax.py")

    assert graded.returncode == 0, graded.stdout
    assert "passed" in graded.stdout


def test_an_installed_wheel_has_what_the_pages_draw(installed: Run) -> None:
    """Every script, style and template that this checkout has."""
    here = sorted(one.name for name in ("assets", "templates") for one in (ROOT / "grader" / "pages" / name).iterdir())

    assert installed("python", "-c", DRAWN).stdout.split() == here
