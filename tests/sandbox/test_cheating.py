"""Ready-made answers: every route ends as its file says and is told with its line; honest code is left alone."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import pytest
import torch

from grader.box.observations import TrapHit
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.inspection import read
from grader.judge.report import Clue, Flag, Sight, Status
from grader.sandbox.runner import Sandbox
from tests.sandbox.cheats import ENTRIES, FORBIDDEN, LIMITS, Route, plan, routes, verdict

_ROUTES = routes()
_SOFTMAX = read_exercise(ROOT / "exercises" / "softmax")
_HONEST = "import torch\n\ndef attend(q, k, v):\n    return torch.softmax(q @ k.mT / 2, dim=-1) @ v\n"
_OWN = """\
def own(x, dim):
    weights = (x - x.amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True)
"""


@pytest.mark.parametrize("route", _ROUTES, ids=lambda route: route.name)
def test_a_route_to_a_ready_made_answer_ends_as_its_file_says(route: Route, sandbox: Sandbox) -> None:
    """With traps as in the service, and with a note of the line wherever a trap sprang."""
    run = sandbox.run(plan(route.group), route.source, LIMITS)

    assert verdict(run, route.group) == route.expected, run
    hits = run.observations.trap_hits
    assert any(not hit.noticed for hit in hits) == ("traps" in route.stoppers)
    assert any(hit.noticed for hit in hits) == ("notices" in route.stoppers), hits
    lines = route.source.count("\n")
    assert all(touch.line is None or 1 <= touch.line <= lines for touch in run.observations.trap_hits)


@pytest.mark.parametrize("route", _ROUTES, ids=lambda route: route.name)
def test_a_route_leads_somewhere_where_nothing_is_forbidden(route: Route, sandbox: Sandbox) -> None:
    """Without traps it gives the ready-made answer, or fails as its file says; so the test above can fail."""
    run = sandbox.run(plan(route.group, trapped=False), route.source, LIMITS)

    assert verdict(run, route.group) == route.free, run
    assert run.observations.trap_hits == ()


@pytest.mark.parametrize("route", _ROUTES, ids=lambda route: route.name)
def test_reading_sees_what_its_file_says(route: Route) -> None:
    """The static look has a clue, or has none; and every file tells its strategy and who stops it."""
    clues = read(route.source, FORBIDDEN[route.group], (ENTRIES[route.group],))

    assert bool(clues) == ("static look" in route.stoppers), clues
    assert route.strategy.endswith(".")


def test_what_is_not_caught_is_in_the_documents() -> None:
    """The page on cheating names every route that earns points, and no other."""
    through = {route.name for route in _ROUTES if route.expected == "right"}
    told = set(re.findall(r"`(uncaught_\w+)`", (ROOT / "docs" / "cheating.md").read_text(encoding="utf-8")))

    assert through == told


def test_traps_are_gone_with_the_process(sandbox: Sandbox) -> None:
    """Each run has the traps of its own plan: none, all, and then the usual ones."""
    for groups, expected in (((), "right"), (("softmax",), "forbidden"), (("attention", "dropout"), "right")):
        asked = plan("attention", trapped=False)
        asked = type(asked)(asked.entry, (), asked.calls, groups)

        assert verdict(sandbox.run(asked, _HONEST, LIMITS), "attention") == expected, groups


def test_a_swallowed_call_ends_its_call_all_the_same(sandbox: Sandbox) -> None:
    """The code catches the exception and computes the right answer; the report says which call it was, and where."""
    source = f"import torch\n{_OWN}\ndef softmax(x, dim=-1):\n    try:\n        return torch.softmax(x, dim)\n"
    source += "    except Exception:\n        return own(x, dim)\n"

    report = grade(_SOFTMAX, source, seed=3, box=sandbox)

    assert (report.status, report.score, report.flag) == (Status.GRADED, 0.0, Flag.READY_MADE)
    assert report.clues == (Clue(Sight.TRAPPED, "torch.softmax", 8, "softmax"),)
    assert (
        "torch.softmax is not allowed in this exercise: write that step yourself (line 8)" in report.checks[0].message
    )


def test_one_swallowed_call_costs_its_own_cases_only(sandbox: Sandbox) -> None:
    """Where the code reaches for the ready-made answer in some cases, the others keep their points."""
    source = (
        f"import torch\n{_OWN}\ndef softmax(x, dim=-1):\n    try:\n        x.dim() == 4 and torch.softmax(x, dim)\n"
    )
    source += "    except Exception:\n        pass\n    return own(x, dim)\n"

    report = grade(_SOFTMAX, source, seed=3, box=sandbox)

    lost = {check.name.partition(":")[0] for check in report.checks if not check.earned}
    assert lost == {"four axes, along the last one", "along the second of four axes, dim = 1"}
    assert report.flag is Flag.READY_MADE


def test_a_call_at_import_that_is_caught_is_told_and_costs_nothing(sandbox: Sandbox) -> None:
    """Nothing of the answer can come from it: a trapped call gives nothing."""
    source = f"import torch\n\ntry:\n    torch.softmax(torch.ones(2), 0)\nexcept Exception:\n    pass\n\n{_OWN}\n"
    source += "def softmax(x, dim=-1):\n    return own(x, dim)\n"

    report = grade(_SOFTMAX, source, seed=3, box=sandbox)

    assert (report.score, report.clues) == (100.0, (Clue(Sight.TRAPPED, "torch.softmax", 4, "<module>"),))


def test_an_ordinary_answer_leaves_no_touch(sandbox: Sandbox) -> None:
    """What is allowed is called, and nothing is noted."""
    run = sandbox.run(plan("attention"), _HONEST, LIMITS)

    assert (verdict(run, "attention"), run.observations.trap_hits) == ("right", ())


def test_only_the_first_places_of_a_call_are_noted(sandbox: Sandbox) -> None:
    """Code that tries again and again, from many lines, sends no flood."""
    tries = "".join(
        f"    try:\n        torch.softmax(x, {-1 - n % 2})\n    except Exception:\n        pass\n" for n in range(9)
    )
    source = f"import torch\n\ndef softmax(x):\n    for _ in range(100):\n        again(x)\n\ndef again(x):\n{tries}"

    trap_hits = sandbox.run(plan("softmax"), source, LIMITS).observations.trap_hits

    assert trap_hits == tuple(TrapHit("torch.softmax", line, "again") for line in (9, 13, 17, 21))


def test_torchs_own_source_is_recognised_whatever_it_is_called() -> None:
    """Pasted whole, renamed, or the half that is needed: suspicious, and nothing more."""
    whole = inspect.getsource(torch.nn.functional.multi_head_attention_forward)
    renamed = re.sub(r"\b(query|key|value|num_heads|head_dim|attn_mask)\b", lambda name: f"my_{name[0][::-1]}", whole)
    half = "def attend(need_weights):\n" + whole[whole.index("    if need_weights:") :]

    for text in (whole, renamed, half):
        clues = read(text, ("attention",), ("attend",))
        assert [clue.what for clue in clues if clue.line is None] == [
            "lines that resemble PyTorch's own multi-head attention"
        ]


def test_a_table_that_was_made_while_the_file_was_loaded_is_measured(sandbox: Sandbox) -> None:
    """The measuring may look for it among all objects; the submission may not, which is trapped elsewhere."""
    source = "import numpy\nTABLE = numpy.zeros((64, 64))\ndef attend(q, k, v):\n    TABLE[:] = 1.0\n    return q * 1\n"
    asked = plan("attention")
    (call,) = asked.calls
    asked = replace(asked, calls=(replace(call, max_elements=64 * 64),))

    run = sandbox.run(asked, source, LIMITS)

    largest = run.observations.calls["case/plain"].largest
    assert largest is not None
    assert largest >= 64 * 64
    assert run.observations.trap_hits == ()
