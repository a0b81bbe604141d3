"""The set-up: what is installed is what is pinned and what is imported, and the commands that it promises are there."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT

PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.]+)")
ALIASES = {"argon2": "argon2-cffi"}  # imported under another name than installed
OURS = {"grader", "reference", "exercises", "tests", "benchmarks"}
TARGETS = ("setup", "run", "test", "check", "bench")


def pins(name: str) -> dict[str, str]:
    """Return the packages that a requirements file names, with their versions."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    found = [PIN.fullmatch(line) for line in lines if line and not line.startswith("-r ")]
    assert all(found), f"every line of {name} must be an exact version"
    return {match[1].lower(): match[2] for match in found if match}


def imported(folder: Path) -> Iterator[str]:
    """Yield the top-level names that the modules below `folder` import."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield (node.module or "").partition(".")[0]


def test_torch_is_pinned_by_its_plain_version() -> None:
    """The line is exactly this one, which every platform's torch satisfies."""
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    """The tests run against the versions that are promised."""
    installed = {package: version(package).partition("+")[0] for package in pins(name)}

    assert installed == pins(name)


def test_everything_imported_is_required() -> None:
    """No package is there by chance only, because another one happened to bring it along."""
    outside = set(imported(ROOT / "grader")) - set(sys.stdlib_module_names) - OURS
    missing = {ALIASES.get(name, name).lower() for name in outside} - set(pins("requirements.txt"))

    assert missing == set()


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_its_targets(target: str) -> None:
    """Each promised target can be planned without an error, from a tree that has never been set up too."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    command = [make, "--dry-run", target, "VENV=nowhere/.venv"]
    planned = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert (planned.returncode, planned.stderr) == (0, "")
    assert "-m pip install" in planned.stdout


def test_an_old_python_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """The set-up stops at once, and says which Python it needs."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    old = tmp_path / "python"
    old.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.version_info = (3, 10)\n$2"\n', encoding="utf-8"
    )
    old.chmod(0o755)
    command = [make, "setup", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"]
    stopped = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert stopped.returncode != 0
    assert "Python 3.11 or newer is needed" in stopped.stderr
    assert not (tmp_path / "venv").exists()


def test_continuous_integration_can_be_started() -> None:
    """`.ci/run` is executable, parses, and ends by running the tests."""
    script = ROOT / ".ci" / "run"
    bash = shutil.which("bash")
    assert bash is not None
    parsed = subprocess.run([bash, "-n", str(script)], capture_output=True, text=True, timeout=60, check=False)

    assert (parsed.returncode, parsed.stderr) == (0, "")
    assert script.stat().st_mode & 0o111
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")
