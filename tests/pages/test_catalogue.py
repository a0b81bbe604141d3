"""The list of exercises, the picker and the title line, over the real catalogue."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from grader.exercise.catalog import ROOT, Catalog
from grader.pages.catalogue import (
    MOST_AGAIN,
    address,
    board_choices,
    exercises_view,
    following,
    numbered,
    title_view,
    tracks,
)
from grader.service.student import PAUSE, Due
from grader.store.tables import SubmissionRow
from tests.pages.conftest import wait_for


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


def _sets_of_solved(catalog, just):
    """Yield what may be solved when `just` is: it alone, all before it, all but one, everything, and ten drawn sets."""
    ids, draw = list(catalog), random.Random(list(catalog).index(just))
    yield [just]
    yield ids[: ids.index(just) + 1]
    yield from ([id for id in ids if id != left] for left in ids if left != just)
    yield ids
    yield from ({just, *draw.sample(ids, draw.randrange(len(ids)))} for _ in range(10))


def _what_is_wrong(catalog, just, solved):
    """Return why an exercise may not follow `just`; nothing for one that may."""
    ids = list(catalog)
    left = [id for id in ids if id not in solved]
    found = following(catalog, just, dict.fromkeys(solved, 100.0))
    if found is None or not left:
        return "there is another one" if left else "it is solved" if found else ""
    ahead = [id for id in left if ids.index(id) > ids.index(just)]
    track = [id for id in ahead if catalog[id].spec.track == catalog[just].spec.track]
    if found.id not in (track or ahead or left):
        return f"{found.id} does not lead on"
    siblings = [id for id in ahead or left if catalog[id].spec.track == found.spec.track]
    ready = [id for id in siblings if solved.issuperset(catalog[id].spec.needs)]
    return "" if found.id == (ready or siblings)[0] else f"{found.id} comes later in its track"


def test_next_leads_on_along_the_track(catalog):
    """After each exercise, with any others solved: in its track, then beyond it, and back only where that is all."""
    asked = [(just, set(solved)) for just in catalog for solved in _sets_of_solved(catalog, just)]
    wrong = [(just, found, solved) for just, solved in asked if (found := _what_is_wrong(catalog, just, solved))]

    assert len(asked) == len(catalog) * (len(catalog) + 12)
    assert wrong == []


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


def test_what_is_missing_stands_on_the_card_and_the_card_leads_on(catalog):
    """Only needs that are not solved; every card can be opened, whatever it needs."""
    later = next(one for one in catalog.values() if len(one.spec.needs) > 1)
    solved, *missing = later.spec.needs
    (card,) = [one for one in cards(exercises_view(catalog, {solved: 100.0})) if one["href"] == address(later.id)]
    everything = cards(exercises_view(catalog, dict.fromkeys(catalog, 100.0)))

    assert [need["text"] for need in card["after"]] == [numbered(catalog, one) for one in missing]
    assert [one["after"] for one in everything] == [[]] * len(catalog)


def test_a_finished_track_says_so(catalog):
    """Its last exercise has to be solved as well."""
    first = [exercise.id for exercise in tracks(catalog)[0][1]]
    done = [
        next(track["done"] for track in exercises_view(catalog, dict.fromkeys(solved, 100.0))["tracks"])
        for solved in (first, first[:-1])
    ]

    assert done == [True, False]


def test_what_to_practise_again_stands_first_and_is_short(catalog):
    """Exercises that are no longer there are left out."""
    again = [Due("gone", 1.0, 2.0), *(Due(id, 5.0, 6.0) for id in list(catalog)[:9])]
    shown = exercises_view(catalog, {}, again)["again"]

    assert shown == [
        {"text": numbered(catalog, id), "href": address(id), "last": 5.0} for id in list(catalog)[:MOST_AGAIN]
    ]


def test_the_front_page_lists_what_to_practise_again(open_page, person, site):
    """For whoever solved it long ago, with the way there; nobody else."""
    who = person()
    source = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
    id = site.service.submit(who.user, "softmax", source)
    wait_for(lambda: site.service.best(who.user) == {"softmax": 100.0})
    page = open_page("/", who)
    expect(page.get_by_text("1 of 40 solved")).to_be_visible()
    assert page.get_by_role("region", name="Practise again").count() == 0
    with site.service.trail._database.write() as session:
        long_ago = time.time() - 1.01 * PAUSE
        session.execute(update(SubmissionRow).where(SubmissionRow.id == id).values(created=long_ago))
    page.reload()
    page.get_by_role("region", name="Practise again").get_by_role("link", name="1. Softmax").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("1. Softmax")
