"""What many tests share: the catalogue, one warm box for submissions, and trials; and who runs which test."""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pytest
import torch

from grader.box.run import Box, Run
from grader.exercise.catalog import Catalog
from grader.gate.prove import Trial, open_trial
from grader.sandbox import choice
from grader.sandbox.choice import choose_box
from tests.proof import is_proof, unused

torch.set_num_threads(1)  # as the service and the desk do: the tensors are small

_SEED = 20_260  # the gate has another
# Tests about one exercise, which may share a trial: `…[softmax]`, `…[softmax/right_plain]`.
_ABOUT_AN_EXERCISE = re.compile(r"tests/(?:test_examples|test_gate|judge/test_forged_answers)\.py::\w+\[(\w+)")


def _group(nodeid: str) -> str:
    """Return what a test is run together with: its exercise, or its file."""
    found = _ABOUT_AN_EXERCISE.match(nodeid)
    return found[1] if found else nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Mark the proof; put the tests about an exercise last, by exercise: small groups fill up the workers evenly."""
    for item in items:
        if is_proof(item.nodeid):
            item.add_marker(pytest.mark.proof)
    if session.config.args == session.config.getini("testpaths") and (odd := unused(item.nodeid for item in items)):
        raise pytest.UsageError(f"tests/proof.py: these patterns fit no test: {odd}")
    items.sort(key=lambda item: "" if (group := _group(item.nodeid)).endswith(".py") else group)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Give each group of tests to one worker, in the order above, whatever `--dist` says."""
    from xdist.scheduler import LoadScopeScheduling  # here: without xdist, tests run in one process

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.fixture(autouse=True)
def _unchanged_process() -> Iterator[None]:
    """Fail whatever leaves this process otherwise than it found it: the next tests would see something else."""
    before = _shared_state()
    yield
    gc.unfreeze()  # a local grader freezes all there is, as a command may; `gc.get_objects` leaves out what is frozen
    assert _shared_state() == before


def _shared_state() -> tuple[object, ...]:
    log = logging.getLogger("grader")
    return (
        log.propagate,
        log.level,
        log.disabled,
        *log.handlers,
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        gc.isenabled(),
        os.getcwd(),
        *(finder for finder in sys.meta_path if type(finder).__module__.startswith("grader.")),
    )


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """Every exercise."""
    return Catalog.load()


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """The safest box of this machine: the sandbox, or a plain subprocess where its walls are missing."""
    chosen = choose_box(allow_plain=True)
    yield chosen
    if (close := getattr(chosen, "close", None)) is not None:
        close()


@dataclass(frozen=True, slots=True)
class LentBox:
    """A box that outlives whoever borrows it; it is there at once, and closing it leaves it open."""

    lender: Box

    @property
    def name(self) -> str:
        """The name of the box itself."""
        return self.lender.name

    def wait(self, *, allow_plain: bool, allow_one_wall: bool = False) -> LentBox:
        """Return this, as a box that was still to come would return itself."""
        return self

    def run(self, *arguments: Any, **options: Any) -> Run:
        """Run in the box itself."""
        return self.lender.run(*arguments, **options)

    def close(self) -> None:
        """Leave it open."""


@pytest.fixture
def warm(box: Box, monkeypatch: pytest.MonkeyPatch) -> LentBox:
    """Have local grading use the box that all tests share, where the start of a box is not what is tested."""
    lent = LentBox(box)
    monkeypatch.setattr(choice, "take", lambda: lent)
    return lent


@pytest.fixture(scope="session")
def trial_of(catalog: Catalog, box: Box) -> Callable[[str], Trial]:
    """Return a function that gives an exercise's trial, in which each example is graded once, through the real box."""
    return lru_cache(maxsize=2)(lambda exercise: open_trial(catalog[exercise], _SEED, box))
