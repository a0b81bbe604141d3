"""What a class misunderstands: by exercise, who has it and since when, and who has got over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from fastapi.responses import Response

from grader.pages.gradebook import HERE, addresses_in
from grader.pages.school.visit import ClassVisit
from grader.pages.wording import count
from grader.service.classes.requests import ClassRefusal
from grader.store.records import Role

MOST_STUCK = 50  # named below one mistake
_FILTERS = ("exercise", "assignment", "section", "week")


def show(visit: ClassVisit, status: int = 200, error: str = "") -> Response:
    """Show the mistakes that the filters leave."""
    asked = {name: visit.query.get(name, "") for name in _FILTERS}
    try:
        found = visit.ask("mistakes", **{name: value for name, value in asked.items() if value and not error})
    except ClassRefusal as refusal:
        return show(visit, 422, str(refusal))
    names, catalog = visit.names(), visit.service.catalog
    to = addresses_in(visit.key) if visit.user.role is Role.INSTRUCTOR else None
    exercises = {
        id: {
            "title": catalog[id].title if id in catalog else id,
            "mistakes": [_line(one, names, to) for one in every],
        }
        for id, every in groupby(found["mistakes"], key=lambda one: str(one["exercise"]))
    }
    ids = sorted({name for one in visit.desk["assignments"] for name in one["items"]} | set(exercises))
    shown = {
        "exercises": exercises,
        "asked": asked,
        "of_exercises": {"": "All", **{id: catalog[id].title if id in catalog else id for id in ids}},
        "of_assignments": {"": "All", **{one["key"]: one["title"] or one["key"] for one in visit.desk["assignments"]}},
        "of_sections": {"": "All", **{name: name for name in visit.desk["sections"]}},
        "most": MOST_STUCK,
    }
    return visit.page("school_mistakes.html", "Mistakes", status, tab="/mistakes", error=error, done="", **shown)


def _line(one: Mapping[str, Any], names: Mapping[str, str], to: Any) -> Mapping[str, Any]:
    """Return a mistake in one sentence, and who is stuck with it."""
    parts = [f"{count(one['students'], 'student')} in {count(one['attempts'], 'attempt')}"]
    if one["mended"]:
        after = "" if one["took"] is None else f" after {one['took']} attempt{'' if one['took'] == '1' else 's'}"
        parts.append(f"{one['mended']} mended it{after}{' in the median' if one['mended'] > 1 else ''}")
    if one["stuck"]:
        parts.append(f"{len(one['stuck'])} still {'has' if len(one['stuck']) == 1 else 'have'} it")
    stuck: Sequence[Mapping[str, Any]] = [
        {
            "name": names.get(each["person"], each["person"]),
            "since": each["since"],
            "href": to(HERE, submission=each["attempt"]) if to else "",
        }
        for each in one["stuck"]
    ]
    return {"title": one["mistake"], "text": "; ".join(parts), "stuck": stuck}
