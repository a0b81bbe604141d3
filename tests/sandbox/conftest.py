"""One sandbox for all tests here, as the service has one, and a plan small enough to run in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.errors import SandboxUnavailable
from grader.sandbox import doctor
from grader.sandbox.runner import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Yield the running sandbox that all share."""
    yield from _running()


@pytest.fixture
def own() -> Iterator[Sandbox]:
    """Yield a sandbox that nobody has used yet."""
    yield from _running()


def _running() -> Iterator[Sandbox]:
    """Yield a running sandbox; skip where this machine has no floor for it."""
    try:
        doctor.require_floor()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    with Sandbox() as running:
        yield running
