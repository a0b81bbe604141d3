"""The exercises as pages show them: the list, the picker, and an exercise's title; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote, urlencode

from grader.exercise.catalog import Catalog, Exercise
from grader.pages.wording import View, count, number
from grader.service.student import Due

FULL = 99.995  # points; scores have two decimals
MOST_AGAIN = 4  # exercises to practise again, shown at once


def address(exercise: str) -> str:
    """Return where an exercise is on this site."""
    return f"/exercise?ex={quote(exercise, safe='')}"


def exercises_view(catalog: Catalog, best: Mapping[str, float], again: Sequence[Due] = ()) -> View:
    """Return the front page: every exercise under its track, with what was reached so far.

    What should be practised `again` stands above them, the first few of it.

    One track is `open` from the start on small screens: the one of the exercise to do next.
    """
    solved = sum(_is_solved(id, best) for id in catalog)
    following = next(coming(catalog, best), None)
    return {
        "first": _link(catalog, next(iter(catalog)), best),
        "count": len(catalog),
        "text": f"{solved} of {len(catalog)} solved.",
        "share": 100 * solved / len(catalog) if catalog else 0.0,
        "next": _link(catalog, following.id, best) if following else None,
        "begun": bool(best),
        "again": [_practised(catalog, one) for one in again if one.exercise in catalog][:MOST_AGAIN],
        "tracks": [
            _track(name, members, catalog, best, is_open=following in members) for name, members in tracks(catalog)
        ],
    }


def tracks(catalog: Catalog) -> list[tuple[str, list[Exercise]]]:
    """Return the exercises by track, both in the order of the catalogue."""
    grouped: dict[str, list[Exercise]] = {}
    for exercise in catalog.values():
        grouped.setdefault(exercise.spec.track, []).append(exercise)
    return list(grouped.items())


def coming(catalog: Catalog, best: Mapping[str, float]) -> Iterator[Exercise]:
    """Yield what is not solved yet: first what nothing unsolved stands before."""
    left = [exercise for exercise in catalog.values() if not _is_solved(exercise.id, best)]
    ready = [one for one in left if not any(_is_missing(need, catalog, best) for need in one.spec.needs)]
    yield from ready
    yield from left


def following(catalog: Catalog, solved: str, best: Mapping[str, float]) -> Exercise | None:
    """Return what to do after an exercise that was just solved; None where nothing is left.

    It leads on along the track, then along the later tracks; what lies before comes last. Of each track, what nothing
    unsolved stands before comes first.
    """
    places, names = list(catalog), [name for name, _ in tracks(catalog)]

    def rank(one: Exercise) -> tuple[bool, int]:
        return places.index(one.id) < places.index(solved), names.index(one.spec.track)

    return min(coming(catalog, best), key=rank, default=None)  # of equals, `min` takes the first


def _track(
    name: str, members: Sequence[Exercise], catalog: Catalog, best: Mapping[str, float], *, is_open: bool
) -> View:
    solved = sum(_is_solved(exercise.id, best) for exercise in members)
    return {
        "name": name,
        "count": f"{solved} of {len(members)} solved" if best else count(len(members), "exercise"),
        "share": 100 * solved / len(members),
        "done": solved == len(members),
        "open": is_open,
        "exercises": [_card(exercise, catalog, best) for exercise in members],
    }


def _practised(catalog: Catalog, one: Due) -> View:
    return {"text": numbered(catalog, one.exercise), "href": address(one.exercise), "last": one.last}


def _card(exercise: Exercise, catalog: Catalog, best: Mapping[str, float]) -> View:
    spec, reached = exercise.spec, best.get(exercise.id)
    return {
        "href": address(exercise.id),
        "title": numbered(catalog, exercise.id),
        "summary": spec.summary,
        "facts": length(exercise),
        "needs": _needs(exercise, catalog, best),
        "after": [_link(catalog, need, best) for need in exercise.spec.needs if _is_missing(need, catalog, best)],
        "best": reached or 0.0,
        "ring": "not tried yet" if reached is None else f"best score {number(reached)} of 100",
        "score": "" if reached is None else number(reached),
        "solved": _is_solved(exercise.id, best),
    }


def length(exercise: Exercise) -> str:
    """Return an exercise's difficulty, and how long it takes."""
    return f"{exercise.spec.difficulty.capitalize()} · about {exercise.spec.minutes} minutes"


def facts(exercise: Exercise) -> str:
    """Return an exercise's track, difficulty, number of checks, length, and how long a run may take, in one line."""
    spec, checks = exercise.spec, count(_number_of_checks(exercise), "check")
    length = f"about {spec.minutes} minutes · at most {spec.limits.cpu_seconds:g} s a run"
    return f"{spec.track} · {spec.difficulty.capitalize()} · {checks} · {length}"


def title_view(catalog: Catalog, exercise: Exercise, best: Mapping[str, float], *, notice: str = "") -> dict[str, View]:
    """Return the title line of an exercise with what it builds on, the way to all others, and a `notice` above it."""
    names = list(catalog)
    place = names.index(exercise.id)
    solved = sum(_is_solved(id, best) for id in catalog)
    return {
        "notice": notice,
        "title": numbered(catalog, exercise.id),
        "facts": facts(exercise),
        "needs": _needs(exercise, catalog, best),
        "solved": _is_solved(exercise.id, best),
        "progress": f"{solved} of {len(catalog)} solved",
        "picker": picker_view(catalog, exercise.id, best),
        "previous": address(names[place - 1]) if place else None,
        "next": address(names[place + 1]) if place + 1 < len(names) else None,
    }


def notice(catalog: Catalog, named: str) -> str:
    """Return what to say where an address names no exercise, and the first one is shown."""
    return "There is no such exercise; this is the first one." if named and named not in catalog else ""


def attempt_notice(asked: str, shown: str) -> str:
    """Return what to say where an address asks for an attempt that is not the one `shown`."""
    other = "this is your latest one" if shown else "nothing is shown"
    return f"There is no such attempt of yours at this exercise; {other}." if asked and asked != shown else ""


def by_track(catalog: Catalog, choice: Callable[[Exercise], View]) -> list[View]:
    """Return what a picker offers: the choice of each exercise, under its track."""
    return [{"name": name, "choices": [choice(one) for one in members]} for name, members in tracks(catalog)]


def picker_view(catalog: Catalog, chosen: str, best: Mapping[str, float]) -> View:
    """Return every exercise by track, ticked where it is solved."""

    def choice(one: Exercise) -> View:
        tick = " ✓" if _is_solved(one.id, best) else ""
        return {"text": numbered(catalog, one.id) + tick, "href": address(one.id), "here": one.id == chosen}

    return by_track(catalog, choice)


def board_address(exercise: str | None, school: str = "") -> str:
    """Return where the leaderboard of an exercise is, or the overall one; of the class of that key, if there is one."""
    fields = {name: value for name, value in (("ex", exercise), ("class", school)) if value}
    return f"/leaderboard?{urlencode(fields)}" if fields else "/leaderboard"


def board_choices(catalog: Catalog, chosen: str | None, school: str = "") -> View:
    """Return the links between the overall leaderboard and each exercise's, by track, in the class of that key."""

    def choice(one: Exercise) -> View:
        return {"text": numbered(catalog, one.id), "href": board_address(one.id, school), "here": one.id == chosen}

    overall: View = {"text": "All exercises together", "href": board_address(None, school), "here": chosen is None}
    return [{"name": "", "choices": [overall]}, *by_track(catalog, choice)]


def numbered(catalog: Catalog, id: str) -> str:
    """Return the title of an exercise with its place in the catalogue."""
    return f"{list(catalog).index(id) + 1}. {catalog[id].title}"


def _needs(exercise: Exercise, catalog: Catalog, best: Mapping[str, float]) -> list[View]:
    return [_link(catalog, need, best) for need in exercise.spec.needs if need in catalog]


def _link(catalog: Catalog, id: str, best: Mapping[str, float]) -> View:
    return {"text": numbered(catalog, id), "href": address(id), "solved": _is_solved(id, best)}


def _is_missing(need: str, catalog: Catalog, best: Mapping[str, float]) -> bool:
    return need in catalog and not _is_solved(need, best)


def _is_solved(id: str, best: Mapping[str, float]) -> bool:
    return best.get(id, 0.0) >= FULL


def _number_of_checks(exercise: Exercise) -> int:
    return sum(len(check.cases) for check in exercise.spec.checks if check.points)  # without points: advice only
