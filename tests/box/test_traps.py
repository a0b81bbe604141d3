"""Traps: every known route to a ready-made answer ends in ForbiddenCall, and ordinary code does not notice them."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grader.box import traps
from tests.box import trap_routes

_ROOT = Path(__file__).parents[2]
_ROUTES = [f"{group}: {name}" for group, routes in trap_routes.GROUPS.items() for name in routes]

_HONEST = """
import torch
from torch import nn
from grader.box import traps

traps.install(({groups}))

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 2
    @staticmethod
    def backward(ctx, upstream):
        return upstream * 2

layer = nn.Linear(4, 4).double()
x = torch.ones(2, 3, 4, dtype=torch.float64, requires_grad=True)
scores = torch.einsum("bqd,bkd->bqk", layer(x), layer(x)).masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf"))
weights = {softmax}
kept = weights * torch.bernoulli(torch.full_like(weights, 0.5))
(Double.apply(kept) @ layer(x)).sum().backward()
torch.func.vmap(lambda row: row.tanh().sum())(x.detach())
assert x.grad is not None and x.grad.isfinite().all()
print("fine")
"""


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
    assert _outcomes()[route]["trapped"].startswith("trapped: torch.")


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


@pytest.mark.parametrize(
    ("groups", "softmax"),
    [
        ("'attention',", "torch.softmax(scores, dim=-1)"),
        ("'attention', 'dropout'", "scores.softmax(-1)"),
        ("'attention', 'softmax', 'dropout'", "(e := (scores - scores.amax(-1, True)).exp()) / e.sum(-1, True)"),
    ],
)
def test_honest_code_does_not_notice_the_traps(groups: str, softmax: str) -> None:
    """What is not forbidden works: softmax under `attention`, functions of one's own, einsum, vmap, bernoulli."""
    assert _program("-c", _HONEST.format(groups=groups, softmax=softmax)) == "fine\n"


def test_traps_make_no_noise() -> None:
    """Installing them warns of nothing, also where warnings are errors."""
    code = "from grader.box import traps; traps.install(tuple(traps.GROUPS))"
    assert _program("-W", "error", "-c", f"import torch\n{code}") == ""


def test_a_module_not_loaded_yet_is_trapped_too() -> None:
    """Importing flex_attention after the traps gives a module from which nothing can be taken."""
    code = (
        "from grader.box import traps; traps.install(('attention',))\n"
        "from grader.errors import ForbiddenCall\n"
        "try:\n    from torch.nn.attention.flex_attention import flex_attention\n"
        "except ForbiddenCall as error:\n    print(error.what)"
    )
    assert _program("-c", code) == "torch.nn.attention.flex_attention.flex_attention\n"


def test_an_unknown_group_is_the_authors_mistake() -> None:
    """A group that does not exist is named, with those that do."""
    with pytest.raises(traps.AuthorError, match="`convolution`; there are attention, softmax, dropout"):
        traps.install(("convolution",))


def test_every_operator_of_this_torch_that_says_attention_is_trapped() -> None:
    """A new version of torch cannot bring an attention operator that we have not seen."""
    known = {name.partition(".")[0] for name in traps.GROUPS["attention"].operators}
    harmless = ("backward", "inplace", "_fused_sdp_choice")
    found = {name.removeprefix("aten::").partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    attention = {name for name in found if "attention" in name and not any(word in name for word in harmless)}
    assert attention - known == set()
