"""Two attempts side by side: code, points, mistakes, maps; what the page shows is made by pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import Match, SequenceMatcher
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from rapidfuzz.distance import LCSseq

from grader.errors import NotAllowed
from grader.exercise.catalog import Catalog
from grader.judge.report import Dimension, Heatmap, Report
from grader.pages import lists, plain
from grader.pages.catalogue import address
from grader.pages.identity import Identity
from grader.pages.pictures import map_view
from grader.pages.render import NAMES
from grader.pages.routes import COMPARE, WORK
from grader.pages.wording import View, clean, count, number
from grader.service import Service
from grader.service.student import Pair
from grader.store.records import Attempt, Submission, SubmissionId, User, UserId

TITLE = "Compare two attempts"
AROUND = 3  # lines shown before and after a change
MOST_LINES = 1000  # of one source; what is longer takes too long to be compared line by line
MOST_CHARACTERS = 500  # of a line
MOST_MAPS = 3  # of one report
_MINUS = "\u2212"
_SIGNS = {"equal": " ", "delete": "-", "insert": "+"}

Row = tuple[str, int | None, int | None, str]  # sign, number in the earlier source, in the later one, text


def comparison_view(pair: Pair, catalog: Catalog, reader: UserId) -> View:
    """Return the comparison of two attempts, for their owner or an instructor."""
    known = catalog.get(pair.after.exercise)
    title = known.title if known else clean(pair.after.exercise, 64)
    own = pair.after.user == reader
    back = {"href": address(pair.after.exercise), "text": title} if own else None
    return {
        "title": f"{title}: {' and '.join(lists.called(one.nth).lower() for one in (pair.before, pair.after))}",
        "back": back or {"href": f"/teach/?student={pair.after.user}", "text": "The student's submissions"},
        "choices": _choices(pair),
        "sides": [_side(one, pair.others, own=own) for one in (pair.before, pair.after)],
        "mistakes": mistakes(pair.before.report, pair.after.report),
        "points": points(pair.before.report, pair.after.report),
        "code": code(pair.before.source, pair.after.source),
        "maps": maps(pair.before, pair.after),
    }


def refusal_view(why: str, link: View = None) -> View:
    """Return the page where there is nothing to compare."""
    return {"title": TITLE, "sides": [], "text": clean(why, 200), "link": link}


def _choices(pair: Pair) -> View:
    """Return what else the later attempt can be compared with."""
    choices: list[View] = [
        {
            "text": f"{lists.called(one.nth).lower()}: {lists.outcome(one).replace('`', '')}",
            "href": lists.pair_address(pair.after.id, one.id),
            "here": one.id == pair.before.id,
        }
        for one in pair.others
        if one.id != pair.after.id
    ]
    return [{"name": "", "choices": choices}]


def _side(one: Submission, others: Sequence[Attempt], *, own: bool) -> View:
    listed = next((attempt for attempt in others if attempt.id == one.id), None)
    href = f"{address(one.exercise)}&attempt={quote(one.id, safe='')}" if own else f"/teach/?submission={one.id}"
    title = lists.called(one.nth)
    shown = lists.line(listed, title) if listed else {"title": title, "text": "", "score": "\u2013", "tone": "none"}
    return {**shown, "created": one.created, "href": href}


def mistakes(before: Report | None, after: Report | None) -> View:
    """Return which mistakes went, came and stayed; where a report names none, where its results become wrong."""
    old, new = _named(before), _named(after)
    gone = [("gone", title) for key, title in old.items() if key not in new]
    come = [("new", title) for key, title in new.items() if key not in old]
    same = [("still there", title) for key, title in new.items() if key in old]
    return [{"what": what, "title": clean(title, 200)} for what, title in (*gone, *come, *same)]


def _named(report: Report | None) -> dict[str, str]:
    if report is None:
        return {}
    named = {one.mistake: one.title for one in report.diagnosis}
    return named or ({report.location.title: report.location.title} if report.location else {})


def maps(before: Submission, after: Submission) -> list[View]:
    """Return the maps of both in pairs, those with wrong cells first; None where one of them has no such map."""
    old, new = _maps(before), _maps(after)
    pairs = [(old.get(key), new.get(key)) for key in {**old, **new}]
    pairs.sort(key=lambda pair: not any(one and any(pane.wrong for pane in one.all_panes) for one in pair))
    return [[_map(old, before), _map(new, after)] for old, new in pairs[:MOST_MAPS]]


def _maps(one: Submission) -> dict[tuple[str, str], Heatmap]:
    return {(found.role, found.title): found for found in one.report.figures.heatmaps} if one.report else {}


def _map(heatmap: Heatmap | None, one: Submission) -> View:
    return map_view(replace(heatmap, title=f"{lists.called(one.nth)}: {heatmap.title}")) if heatmap else None


def points(before: Report | None, after: Report | None) -> View:
    """Return the checks whose points differ, as a table, and how many are as they were."""
    old, new = _items(before), _items(after)
    if not old or not new:
        return {"rows": [], "text": "Points can be compared where both attempts could be run."}
    both = {**old, **new}
    changed = [key for key in both if old.get(key) != new.get(key)]
    changed.sort(key=lambda key: list(Dimension).index(key[0]))
    same = len(both) - len(changed)
    return {
        "label": "Checks whose points have changed",
        "find": "Find a check",
        "columns": [
            {"name": "Check"},
            {"name": "Before", "kind": "number"},
            {"name": "After", "kind": "number"},
            {"name": "Change", "kind": "number"},
        ],
        "rows": [{"cells": _line(key, old.get(key), new.get(key))} for key in changed],
        "text": f"{count(same, 'check')} unchanged."
        if changed
        else f"No points have changed ({count(same, 'check')}).",
    }


Item = tuple[Dimension, str]
Earned = tuple[float, float]  # earned, possible


def _items(report: Report | None) -> dict[Item, Earned]:
    found: dict[Item, Earned] = {}
    for check in report.checks if report else ():
        earned, possible = found.get((check.dimension, check.name), (0.0, 0.0))
        found[check.dimension, check.name] = earned + check.earned, possible + check.possible
    return found


def _line(key: Item, old: Earned | None, new: Earned | None) -> list[View]:
    change = (new[0] if new else 0.0) - (old[0] if old else 0.0)
    name = f"{NAMES[key[0]]}: {clean(key[1], 200)}"
    return [name, _points(old), _points(new), ("+" if change > 0 else _MINUS) + number(abs(change))]


def _points(item: Earned | None) -> str:
    return "not asked" if item is None else f"{number(item[0])}/{number(item[1])}"


def code(before: str, after: str) -> View:
    """Return the changed lines with some around them, in blocks; each line with its numbers in both sources."""
    old, new = (source.replace("\r\n", "\n").rstrip("\n").split("\n") for source in (before, after))
    if max(len(old), len(new)) > MOST_LINES:
        return {"blocks": [], "text": f"The code has more than {MOST_LINES} lines and is not compared line by line."}
    groups = _Lines(old, new).get_grouped_opcodes(AROUND)
    blocks: list[View] = [[list(row) for step in group for row in _rows(step, old, new)] for group in groups]
    return {"blocks": blocks, "text": "" if blocks else "The code is the same."}


class _Lines(SequenceMatcher[str]):
    """Two sources. The library's own way to find what is the same in both takes up to the cube of their lines."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._same = [Match(*block) for block in LCSseq.editops(old, new).as_matching_blocks()]

    def get_matching_blocks(self) -> list[Match]:
        return self._same


def _rows(step: tuple[str, int, int, int, int], old: Sequence[str], new: Sequence[str]) -> list[Row]:
    kind, a, b, c, d = step
    if kind == "replace":
        return [*_rows(("delete", a, b, c, c), old, new), *_rows(("insert", b, b, c, d), old, new)]
    sign = _SIGNS[kind]
    if kind == "equal":
        return [(sign, a + n + 1, c + n + 1, clean(text, MOST_CHARACTERS)) for n, text in enumerate(old[a:b])]
    if kind == "delete":
        return [(sign, n, None, clean(text, MOST_CHARACTERS)) for n, text in enumerate(old[a:b], a + 1)]
    return [(sign, None, n, clean(text, MOST_CHARACTERS)) for n, text in enumerate(new[c:d], c + 1)]


def asked_view(service: Service, user: User | None, id: SubmissionId, other: SubmissionId | None) -> View:
    """Return the page for whoever asks for two attempts by their ids; without the second, the one before the first."""
    if user is None:
        return refusal_view(lists.GUEST_WORK, {"href": f"/sign-in?next={WORK.path}", "text": "Sign in"})
    try:
        pair = service.trail.pair(user, id, other)
    except NotAllowed as refusal:
        return refusal_view(str(refusal), {"href": WORK.path, "text": WORK.title})
    return comparison_view(pair, service.catalog, user.id)


def build_comparison(identity: Identity) -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(include_in_schema=False)

    @router.get(COMPARE)
    def compare(request: Request, attempt: str = "", before: str = "") -> Response:
        user = identity.user(request)
        view = asked_view(identity.service, user, SubmissionId(attempt), SubmissionId(before) if before else None)
        header = lists.header_view(user, TITLE, here=WORK.path, next=lists.address_asked(request))
        return plain.page("compare.html", header, view=view)

    return router
