"""The set-up: what is installed is what is pinned and what is imported, and the commands that it promises are there."""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.exercise.catalog import ROOT
from grader.pages.answers import ASSETS

PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.]+)")
ALIASES = {  # imported under another name than installed
    "argon2": "argon2-cffi",
    "confusable_homoglyphs": "confusable-homoglyphs",
    "markdown_it": "markdown-it-py",
    "mdit_py_plugins": "mdit-py-plugins",
    "python_calamine": "python-calamine",
    "prometheus_client": "prometheus-client",
    "pynvml": "nvidia-ml-py",
}
UPLOT = {  # `npm pack uplot@1.6.32`, in dist/
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
OURS = {"grader", "reference", "exercises", "tests", "benchmarks"}
TARGETS = ("setup", "run", "test", "check", "bench", "lock")
HAND, TOOL = ("requirements.in", "requirements-dev.txt"), ("constraints.txt", "requirements.txt")


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


def locked(name: str) -> dict[str, str]:
    """Return what a file that the tool wrote pins for this platform and Python."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    rows = [line.partition(";") for line in lines if line]
    found = {row[0].strip(): PIN.fullmatch(row[0].strip()) for row in rows}
    assert all(found.values()), f"every line of {name} must be an exact version"
    here = [found[row[0].strip()] for row in rows if not row[2] or Marker(row[2]).evaluate()]
    return {canonicalize_name(match[1]): match[2] for match in here if match}


def brought_along(roots: list[str]) -> Iterator[str]:
    """Yield what the installed packages `roots` need in turn, as far as it is installed, themselves included."""
    waiting, seen = [Requirement(root) for root in roots], set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *requirement.extras) in seen:
            continue
        seen.add((name, *requirement.extras))
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # for another platform, or CUDA beside a torch for CPUs
        yield name
        extras = [*requirement.extras, ""]
        for need in map(Requirement, needs):
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(need)


@pytest.mark.parametrize("name", ["requirements.in", "requirements.txt", "constraints.txt"])
def test_torch_is_pinned_by_its_plain_version(name: str) -> None:
    """The line is exactly this one, which every platform's torch satisfies."""
    assert "torch==2.13.0" in (ROOT / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", HAND)
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    """The tests run against the versions that are promised."""
    installed = {package: version(package).partition("+")[0] for package in pins(name)}

    assert installed == pins(name)


@pytest.mark.parametrize(("name", "roots"), [("constraints.txt", HAND), ("requirements.txt", HAND[:1])])
def test_what_comes_along_is_pinned_as_well(name: str, roots: tuple[str, ...]) -> None:
    """Each installed package that ours need in turn is pinned, at the version that is installed."""
    needed = set(brought_along([package for root in roots for package in pins(root)]))
    installed = {package: version(package).partition("+")[0] for package in needed}

    assert len(needed) > 60
    assert {package: locked(name).get(package) for package in needed} == installed


@pytest.mark.parametrize("name", TOOL)
def test_the_lock_says_which_command_wrote_it(name: str) -> None:
    """The command in the head is the one of `make lock`, with the files in which people write as its input."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    told = re.search(r"^#    (uv pip compile .*)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    planned = subprocess.run(
        [make, "--dry-run", "lock"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    commands = [
        line.replace("--quiet ", "").split()[1:] for line in planned.splitlines() if line.endswith(f"-o {name}")
    ]

    assert told is not None
    assert [told[1].split()[1:]] == commands
    assert set(told[1].split()) & set(HAND)


def test_a_space_installs_from_requirements_alone() -> None:
    """A hosting Space hands that one file to pip, so it names no other, and none of CUDA's gigabytes."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0] for line in lines if not line.startswith("#")]

    # nvidia-ml-py is 60 kB of Python, without a library.
    assert [name for name in names if name.startswith(("-", "nvidia", "cuda", "triton"))] == ["nvidia-ml-py"]
    assert set(locked("requirements.txt").items()) <= set(locked("constraints.txt").items())


def test_what_the_browser_loads_of_others_is_pinned() -> None:
    """The files of uPlot 1.6.32 are those of the package on npm, with their licence beside them; so is the font's."""
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in ASSETS.glob("uPlot*")}

    assert found == UPLOT
    assert "SIL Open Font License" in (ASSETS / "math.LICENSE").read_text(encoding="utf-8")


def test_the_build_backend_is_pinned() -> None:
    """It is downloaded anew at each set-up, and runs."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert all(PIN.fullmatch(need) for need in tomllib.loads(text)["build-system"]["requires"])


def test_every_installation_is_held_to_the_lock() -> None:
    """Whatever the Makefile installs is constrained, exact, or brings nothing along."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installed = [line.partition("$(PIP)")[2].strip() for line in makefile.splitlines() if line.startswith("\t$(PIP)")]

    assert len(installed) == 4
    assert [what for what in installed if not re.match(r"-c constraints.txt |--no-deps |uv==", what)] == []
    assert re.findall(r"^\t.*-m pip install", makefile, re.MULTILINE) == []


def test_everything_imported_is_required() -> None:
    """No package is there by chance only, because another one happened to bring it along."""
    outside = set(imported(ROOT / "grader")) - set(sys.stdlib_module_names) - OURS
    missing = {ALIASES.get(name, name).lower() for name in outside} - set(pins("requirements.in"))

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
    """`.ci/run` is executable, parses, and ends by running all tests."""
    script = ROOT / ".ci" / "run"
    bash = shutil.which("bash")
    assert bash is not None
    parsed = subprocess.run([bash, "-n", str(script)], capture_output=True, text=True, timeout=60, check=False)

    assert (parsed.returncode, parsed.stderr) == (0, "")
    assert script.stat().st_mode & 0o111
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test\nmake proof")


@pytest.mark.parametrize(("chosen", "index"), [("", False), ("TORCH=cpu", True)])
def test_the_small_build_of_torch_is_chosen_by_an_option(chosen: str, index: bool) -> None:
    """Without it pip asks PyPI alone; a word that is no build is refused."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")

    shown = subprocess.run(
        [make, "-nB", "setup", *chosen.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    refused = subprocess.run([make, "-n", "setup", "TORCH=gpu"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ("--extra-index-url https://download.pytorch.org/whl/cpu" in shown.stdout) is index
    assert (refused.returncode, 'TORCH is "gpu"; expected: cpu' in refused.stderr) == (2, True)
