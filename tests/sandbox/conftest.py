"""One sandbox for all tests here, as the service has one, and a plan small enough to run in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.box.run import Box
from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.runner import Sandbox


@pytest.fixture(scope="session")
def sandbox(box: Box) -> Sandbox:
    """Return the running sandbox that all tests share; skip where this machine has no floor for it."""
    _require_floor()
    assert isinstance(box, Sandbox)
    return box


@pytest.fixture
def own() -> Iterator[Sandbox]:
    """Yield a sandbox that nobody has used yet."""
    _require_floor()
    with Sandbox() as running:
        yield running


def _require_floor() -> None:
    try:
        doctor.require_floor()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
