"""Traps: every known route to a ready-made answer ends in ForbiddenCall, and ordinary code does not notice them."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.box import traps
from grader.errors import AuthorError
from tests.box import trap_routes

_ROOT = Path(__file__).parents[2]
_ROUTES = [f"{group}: {name}" for group, routes in trap_routes.GROUPS.items() for name in routes]


def _program(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def _outcomes() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(_program("-m", "tests.box.trap_routes"))
    return found


@pytest.mark.parametrize("route", _ROUTES)
def test_a_route_to_a_ready_made_answer_is_trapped(route: str) -> None:
    """With the traps in place the route ends in ForbiddenCall, which names something a student knows."""
    assert _outcomes()[route]["trapped"].startswith(("trapped: torch.", "trapped: gc."))


@pytest.mark.parametrize("route", _ROUTES)
def test_a_route_works_without_traps(route: str) -> None:
    """Without traps the route gives an answer, so that the test above can fail."""
    assert _outcomes()[route]["free"] == "ran"


def test_the_call_is_named_as_the_student_wrote_it() -> None:
    """The message says the public name of the call, not that of a kernel below it."""
    names = [_outcomes()[f"{route}"]["trapped"] for route in ("attention: plain call", "softmax: functional")]
    assert names == [
        "trapped: torch.nn.functional.scaled_dot_product_attention",
        "trapped: torch.nn.functional.softmax",
    ]


@pytest.mark.parametrize("groups", trap_routes.HONEST_UNDER)
def test_honest_code_does_not_notice_the_traps(groups: str) -> None:
    """What is not forbidden works: softmax under `attention`, functions of one's own, einsum, vmap, bernoulli."""
    assert _outcomes()["honest"][groups] == "ran"


def test_traps_make_no_noise_and_reach_modules_that_come_late() -> None:
    """They warn of nothing; importing flex_attention after them gives a module from which nothing can be taken."""
    code = (
        "from grader.box import traps; traps.install(tuple(traps.GROUPS))\n"
        "from grader.errors import ForbiddenCall\n"
        "try:\n    from torch.nn.attention.flex_attention import flex_attention\n"
        "except ForbiddenCall as error:\n    print(error.what)"
    )
    assert _program("-W", "error", "-c", code) == "torch.nn.attention.flex_attention.flex_attention\n"


def test_an_unknown_group_is_the_authors_mistake() -> None:
    """A group that does not exist is named, with those that do."""
    with pytest.raises(AuthorError, match="`convolution`; there are attention, softmax, dropout"):
        traps.install(("convolution",))
