"""The container files are well formed, and say nothing that the settings and the sandbox do not know."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from grader.exercise.catalog import ROOT
from grader.settings import PREFIX, Settings

DEPLOY = ROOT / "deploy"
TOOLS = Path(sys.executable).parent
CHECKS = {
    "Dockerfile": [TOOLS / "hadolint", "--no-color"],
    "compose.yaml": [TOOLS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_container_file_is_well_formed(name: str) -> None:
    """The customary linter of its format has nothing to say."""
    done = subprocess.run([*CHECKS[name], DEPLOY / name], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_containers_use_settings_that_exist() -> None:
    """An unknown variable with our prefix would stop the start."""
    used = {word for name in CHECKS for word in re.findall(rf"{PREFIX}\w+", (DEPLOY / name).read_text("utf-8"))}

    assert used >= {PREFIX + "DATABASE_URL", PREFIX + "SECRET", PREFIX + "DATA"}
    assert used <= {PREFIX + one.name.upper() for one in fields(Settings)}


def test_containers_have_no_privileges() -> None:
    """The image runs as somebody else than root, and no container is given a capability or the engine's socket."""
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")

    assert re.findall(r"^USER (\w+)$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)[-1:] == ["1000"]
    assert re.findall(r"privileged: |cap_add|docker\.sock|seccomp|apparmor|userns", compose) == []
    assert "cap_drop: [ALL]" in compose
