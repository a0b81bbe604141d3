"""The list of exercises, the picker and the title line, over the real catalogue."""

from __future__ import annotations

from itertools import pairwise

import pytest

from grader.exercise.catalog import Catalog
from grader.pages.catalogue import address, board_choices, exercises_view, numbered, title_view, tracks


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """Give all exercises."""
    return Catalog.load()


def cards(view):
    """Return the cards of all tracks, in their order."""
    return [card for track in view["tracks"] for card in track["exercises"]]


def test_every_exercise_is_listed_once_in_its_order(catalog):
    """Grouped by track, numbered from 1 on without a gap, with where it leads."""
    view = exercises_view(catalog, {})

    assert [card["href"] for card in cards(view)] == [address(id) for id in catalog]
    assert [card["title"].partition(".")[0] for card in cards(view)] == [str(n + 1) for n in range(len(catalog))]
    assert len({track["name"] for track in view["tracks"]}) == len(view["tracks"])


def test_what_an_exercise_needs_comes_before_it(catalog):
    """Each link leads to an exercise with a smaller number."""
    for exercise in catalog.values():
        places = [list(catalog).index(need) for need in exercise.spec.needs]
        assert all(place < list(catalog).index(exercise.id) for place in places), exercise.id


def test_tracks_follow_each_other(catalog):
    """A track ends before the next one begins, so the numbers go up through the page."""
    spans = [[exercise.spec.order for exercise in members] for _, members in tracks(catalog)]

    assert all(max(one) < min(other) for one, other in pairwise(spans))


def test_progress_is_counted_per_track(catalog):
    """Only full marks solve; the track of the next exercise is the one that is open."""
    first, second, *_ = catalog
    view = exercises_view(catalog, {first: 100.0, second: 99.0})

    track = view["tracks"][0]
    assert track["count"] == f"1 of {len(track['exercises'])} solved"
    assert [card["solved"] for card in track["exercises"]][:2] == [True, False]
    assert [one["open"] for one in view["tracks"]] == [True] + [False] * (len(view["tracks"]) - 1)
    assert view["next"]["text"] == numbered(catalog, second)


def test_next_is_what_nothing_unsolved_stands_before(catalog):
    """Exercises whose needs are open come later, wherever they stand; after the last one there is none."""
    everything = dict.fromkeys(catalog, 100.0)
    last = next(id for id in reversed(list(catalog)) if catalog[id].spec.needs)
    needed = catalog[last].spec.needs[0]
    left = {id: points for id, points in everything.items() if id not in (last, needed)}

    assert exercises_view(catalog, left)["next"]["text"] == numbered(catalog, needed)
    assert exercises_view(catalog, everything)["next"] is None


def test_a_title_says_what_it_needs_and_leads_everywhere(catalog):
    """The links of the needs are ticked where they are solved, and the picker holds every exercise."""
    exercise = next(one for one in catalog.values() if len(one.spec.needs) > 1)
    solved, *others = exercise.spec.needs

    view = title_view(catalog, exercise, {solved: 100.0})

    assert [(need["text"], need["solved"]) for need in view["needs"]] == [
        (numbered(catalog, solved), True),
        *((numbered(catalog, other), False) for other in others),
    ]
    choices = [choice for group in view["picker"] for choice in group["choices"]]
    assert [choice["href"] for choice in choices] == [address(id) for id in catalog]
    assert [choice["text"] for choice in choices if choice["here"]] == [numbered(catalog, exercise.id)]
    assert f"{numbered(catalog, solved)} ✓" in [choice["text"] for choice in choices]


def test_boards_can_be_picked_by_track(catalog):
    """First all exercises together, then each one, and the chosen one is marked."""
    chosen = list(catalog)[3]
    groups = board_choices(catalog, chosen)

    assert groups[0]["choices"][0]["href"] == "/leaderboard"
    assert [group["name"] for group in groups[1:]] == [name for name, _ in tracks(catalog)]
    here = [choice["href"] for group in groups for choice in group["choices"] if choice["here"]]
    assert here == [f"/leaderboard?ex={chosen}"]
