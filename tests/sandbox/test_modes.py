"""The corpus where it may succeed, behind each wall alone, and in every tier and place: nothing gets through there."""

from __future__ import annotations

from typing import Any

import pytest

from grader.sandbox.walls import landlock
from tests.sandbox import modes
from tests.sandbox.arena_corpus import WALLS, corpus

_ATTACKS = {attack.name: attack for attack in corpus()}
_TEETH = 45  # probes that must succeed without walls, or the others prove nothing


def _story(mode: str) -> dict[str, Any]:
    try:
        return modes.story(mode)
    except modes.NotHere as reason:
        pytest.skip(str(reason))


def test_the_attacks_have_teeth() -> None:
    """Without walls most probes get through, and the machine outside of the stage has nothing of it."""
    told = _story("no jail")
    assert len(modes.open_in("no jail")) >= _TEETH, told["verdicts"]


@pytest.mark.parametrize("wall", WALLS)
def test_each_wall_alone_stops_what_the_files_say(wall: str) -> None:
    """Of the probes that succeed without walls, exactly those that name the wall are held by it alone."""
    if wall == "Landlock" and landlock.version() < landlock.SCOPES_SINCE:
        pytest.skip("this Landlock does not scope signals")
    _story("no jail")
    _story(f"{wall} alone")
    free = modes.open_in("no jail") & {name for name, attack in _ATTACKS.items() if attack.succeeds_without_walls}
    assert {name for name in free if wall in _ATTACKS[name].stoppers} == free - modes.open_in(f"{wall} alone")


@pytest.mark.parametrize("tier", modes.TIERS)
def test_nothing_gets_through_in_a_tier(tier: str) -> None:
    """Every attack ends as its file says, honest submissions between them are right, and no victim was harmed."""
    told = _story(tier)
    wrong = {name: said for name, said in told["verdicts"].items() if said not in _ATTACKS[name].expected}
    assert (modes.open_in(tier), wrong) == (set(), {})
    assert {name for name, said in told["after"].items() if said != "right"} == set()
    assert told["harm"] == {"victim": False, "files": False}


@pytest.mark.parametrize("tier", modes.TIERS)
def test_a_tier_is_the_one_that_it_is_called(tier: str) -> None:
    """The box says so itself, and serves as who it should; nearly all of the corpus was run."""
    told = _story(tier)
    assert told["box"] == f"sandbox ({tier.partition(',')[0]})"
    assert (told["user"] == 0) == tier.endswith("root")
    left_out = {name for name, attack in _ATTACKS.items() if not attack.runs_here or attack.is_slow}
    assert set(_ATTACKS) - set(told["verdicts"]) <= left_out


def test_the_page_says_what_the_files_say() -> None:
    """The page lists every attack with its walls; `python -m tests.sandbox.modes --page` writes it anew."""
    text = modes.PAGE.read_text(encoding="utf-8")
    assert modes.page() in text
