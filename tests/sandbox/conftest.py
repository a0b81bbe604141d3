"""One sandbox for all tests here, as the service has one, and a plan small enough to run in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from grader.box.run import Box
from grader.errors import SandboxUnavailable
from grader.sandbox import doctor, handles
from grader.sandbox.runner import Sandbox
from tests.sandbox.warm_start import WarmStart


@pytest.fixture(scope="session")
def sandbox(box: Box) -> Sandbox:
    """Return the running sandbox that all tests share; skip where this machine has no floor for it."""
    _require_floor()
    assert isinstance(box, Sandbox)
    return box


@pytest.fixture(scope="session")
def starting() -> Iterator[WarmStart]:
    """Yield a warm process that zygotes and workers are forked from."""
    _require_floor()
    with closing(WarmStart()) as warm:
        yield warm


@pytest.fixture
def quickly(starting: WarmStart, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have zygotes forked from a warm process, where their warming up is not what is tested."""
    monkeypatch.setattr(handles, "subprocess", starting)


@pytest.fixture
def own(quickly: None) -> Iterator[Sandbox]:
    """Yield a sandbox that nobody has used yet."""
    with Sandbox() as running:
        yield running


def _require_floor() -> None:
    """Skip where this machine has no floor for a sandbox."""
    try:
        doctor.require_floor()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
