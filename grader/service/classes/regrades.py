"""Regrades of a class: made and looked at, and then applied or cancelled.

The new results stand beside the old ones, and nobody sees anything of them before they are applied. Sources are graded
by the queue, behind what is handed in; given results at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from grader.jobs import claims
from grader.rules.line import could_count
from grader.rules.preview import preview
from grader.rules.sentences import explain
from grader.rules.values import Book, HandIn, Person, Result
from grader.rules.visible import is_visible, own_line
from grader.service.classes import forms, work
from grader.service.classes.events import (
    Apply,
    BothResults,
    CancelChange,
    ListChanges,
    LookAtChange,
    Regrade,
    SetVersion,
)
from grader.service.classes.requests import ClassRefusal, Request, bad_value, check_reason, unknown
from grader.store import changes, coursework, gradings, turns
from grader.store.changes import AttemptResult, Change, ChangeState, RegradedAttempt
from grader.store.records import SubmissionId, UserId

SAME_POINTS = "An attempt of yours has another result; your points stay as they are."
NOT_THAT = "Grades have changed since the preview. Cancel this change, and make it anew."


def set_version(asking: Request, event: SetVersion) -> Mapping[str, Any]:
    """Have given results of an exercise count as its version says from now on."""
    before = changes.version_of(asking.session, event.exercise)
    changes.set_version(asking.session, event.exercise, event.version)
    asking.note("version", event.exercise, before=before, after=event.version)
    return {}


def regrade(asking: Request, event: Regrade) -> Mapping[str, Any]:
    """Grade a class's attempts at an exercise once more, and return what that would change."""
    session, one = asking.session, asking.school_class
    check_reason(event.reason)
    if changes.find(session, one.id, event.change) is not None:
        raise ClassRefusal("exists", f"There is a change {event.change!r} already.")
    if (other := changes.open_one(session, one.id, event.exercise)) is not None:
        raise ClassRefusal("open_change", f"The change {other!r} of this exercise is open; apply or cancel it first.")
    found = changes.attempts(session, one.id, event.exercise)
    if not found and all(event.exercise not in each.items for each in asking.book().assignments.values()):
        raise unknown("The class has no such exercise.")
    found = _wanted(asking, event, found)
    change = changes.add(
        session, one.id, event.change, exercise=event.exercise, keep=event.keep, reason=event.reason, by=asking.user,
        now=asking.now,
    )  # fmt: skip
    waiting = _grade(asking, found, change)
    asking.note("regrade", event.change, after={"exercise": event.exercise, "keep": event.keep}, reason=event.reason)
    if waiting:
        return {"gradings": len(found), "waiting": waiting}
    made = _found(asking, event.change)
    regraded = changes.results(session, made, one.id)
    answer = _shown(asking, regraded, made.keep)
    changes.note_preview(session, change, _seen(answer))
    return {"gradings": len(regraded), **answer}


def look(asking: Request, event: LookAtChange) -> Mapping[str, Any]:
    """Return how far a change is, and once all is graded what its results would change."""
    made, session = _found(asking, event.change), asking.session
    regraded = changes.results(session, made, asking.school_class.id)
    waiting = claims.waiting_of(session, made.id)
    answer = {
        "change": made.key, "exercise": made.exercise, "keep": made.keep, "reason": made.reason, "state": made.state,
        "made": made.made, "gradings": len(regraded) + waiting, "waiting": waiting,
        "failed": [one.id for one in regraded if one.is_failed],
    }  # fmt: skip
    if waiting or made.state is not ChangeState.OPEN:
        return answer
    shown = _shown(asking, regraded, made.keep)
    return {**answer, **shown, "seen": _digest(_seen(shown))}


def both_results(asking: Request, event: BothResults) -> Mapping[str, Any]:
    """Return the reports on an attempt before a regrade and by it, as JSON."""
    known, made = asking.student(event.person), _found(asking, event.change)
    id = SubmissionId(event.attempt)
    place = coursework.place_of(asking.session, id)
    found = gradings.before_and_after(asking.session, id, made.id)
    if place is None or place[:2] != (known.user, asking.school_class.id) or found is None:
        raise unknown("There is no such attempt in this regrade.")
    if not asking.is_staff:
        book = asking.book(known.user)
        is_shown = is_visible(book, known.person, book.assignments[place[2]], asking.at)
        if made.state is not ChangeState.APPLIED or not is_shown:
            raise unknown("There is no such attempt in this regrade.")
    before, after = found
    return {"exercise": made.exercise, "reason": made.reason, "before": before, "after": after}


def list_changes(asking: Request, event: ListChanges) -> Mapping[str, Any]:
    """Return the changes of a class, the latest first."""
    found = changes.every(asking.session, asking.school_class.id)
    shown = [
        {"change": one.key, "exercise": one.exercise, "state": one.state, "made": one.made, "reason": one.reason}
        for one in found
    ]
    return {"changes": shown}


def apply(asking: Request, event: Apply) -> Mapping[str, Any]:
    """Let the new results of a change count."""
    made = _open(asking, event.change)
    if waiting := claims.waiting_of(asking.session, made.id):
        raise ClassRefusal("not_done", f"{waiting} of its gradings have not ended yet.", waiting=waiting)
    turns.of_change(asking.session, made.id)
    regraded = changes.results(asking.session, made, asking.school_class.id)
    shown = _shown(asking, regraded, made.keep)
    now = _seen(shown)
    if event.seen is None and made.seen is None:
        raise ClassRefusal("changed_since", "Look at what it would change first.")
    if _digest(now) != (_digest(made.seen) if event.seen is None else event.seen):
        raise ClassRefusal("changed_since", NOT_THAT)
    changes.note_preview(asking.session, made.id, now)
    before = asking.book()
    for one in regraded:
        if one.grading is not None and chosen(one, made.keep) is not one.before:
            gradings.make_current(asking.session, one.id, one.grading, asking.now)
    changes.notify(asking.session, made.id, _texts(asking, before, made, shown), asking.now)
    changes.end(asking.session, made.id, ChangeState.APPLIED, asking.now)
    told = {name: now[name] for name in ("cells", "banks")}
    asking.note("apply", event.change, before=None, after=told, reason=made.reason)
    return {}


def _texts(asking: Request, before: Book, made: Change, shown: Mapping[str, Any]) -> dict[UserId, str]:
    """Return what each person is told of a change: why, and what each assignment is by their own line, was and is.

    Nobody is told of results that are hidden from them, nor that there are others now.
    """
    after, found = asking.book(), {}
    replaced = {str(one["attempt"]) for one in shown["attempts"]}
    for person in shown["told"]:
        seen = [one for one in after.in_order() if is_visible(after, person, one, asking.at)]
        old, new = own_line(before, person, asking.at).cells, own_line(after, person, asking.at).cells
        lines = [
            f"{one.title or one.key}: {explain(one, old[one.key])} → {explain(one, new[one.key])}"
            for one in seen
            if old[one.key] != new[one.key]
        ]
        touched = {one.assignment for one in after.attempts.get(person, ()) if one.id in replaced}
        if lines or any(one.key in touched for one in seen):
            reason = f"{made.exercise} was graded once more: {made.reason}"
            found[asking.student(person).user] = "\n".join((reason, *(lines or [SAME_POINTS])))
    return found


def cancel(asking: Request, event: CancelChange) -> Mapping[str, Any]:
    """Let the new results of a change never count."""
    made = _open(asking, event.change)
    if asking.grading is not None:
        asking.grading.queue.cancel_change(asking.session, made.id)
    changes.end(asking.session, made.id, ChangeState.CANCELLED, asking.now)
    asking.note("cancel_change", event.change, reason=made.reason)
    return {}


def chosen(one: RegradedAttempt, keep: str) -> AttemptResult:
    """Return which of an attempt's two results counts.

    One that uses up no attempt never replaces a graded one as the better one. A grading that failed by a fault of ours
    changes nothing.
    """
    before, after = one.before, one.after
    if after is None or one.is_failed or before == after:
        return before
    if keep == "new":
        return after
    is_better = after.result is Result.GRADED and (before.score is None or (after.score or 0) > before.score)
    return after if is_better else before


def _wanted(asking: Request, event: Regrade, found: Sequence[RegradedAttempt]) -> list[RegradedAttempt]:
    """Return those of the attempts that a regrade is about."""
    book = asking.book()
    kept = could_count(book, event.exercise) if event.only_counting else {str(one.id) for one in found}
    if event.assignment is not None:
        asking.assignment(event.assignment)
        kept &= {one.id for each in book.attempts.values() for one in each if one.assignment == event.assignment}
    people = None if event.people is None else {asking.student(person).person for person in event.people}
    if event.attempts is not None:
        if strange := sorted(set(event.attempts) - {str(one.id) for one in found}):
            raise unknown(f"There is no graded attempt {strange[0][:40]!r} at this exercise in this class.")
        kept &= set(event.attempts)
    return [one for one in found if one.id in kept and (people is None or one.person in people)]


def _grade(asking: Request, found: Sequence[RegradedAttempt], change: int) -> int:
    """Have attempts graded once more; return how many of them wait for that."""
    sources = [one for one in found if not one.is_given]
    if sources:
        if asking.grading is None:
            raise bad_value("Sources are graded where the service runs; here are given results only.")
        if sources[0].exercise not in asking.grading.catalog:
            raise unknown(f"There is no exercise {sources[0].exercise!r} any more, so nothing can be graded by it.")
    for attempt in found:
        if attempt.is_given:
            work.grade_as_given(asking, attempt.id, attempt.exercise, attempt.raw.decode(), change=change)
        elif asking.grading is not None:
            priority = round(asking.now * 1000)
            asking.grading.queue.submit(
                asking.session, attempt.id, queue=attempt.device, priority=priority, change=change
            )
    return len(sources)


def _seen(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a preview has to be the same when it is applied."""
    return {name: shown[name] for name in ("cells", "banks", "attempts")}


def _digest(seen: Mapping[str, Any]) -> str:
    return sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:32]


def _shown(asking: Request, regraded: Sequence[RegradedAttempt], keep: str) -> dict[str, Any]:
    """Return which attempts, cells and banks the new results would change, and who would be told."""
    book = asking.book()
    new = {one.id: chosen(one, keep) for one in regraded}
    found = preview(book, _with(book, {str(id): outcome for id, outcome in new.items()}), asking.at)
    different = [one for one in regraded if new[one.id] is not one.before]
    matrix = Counter((_word(one.before), _word(new[one.id])) for one in regraded)
    present = {person for person, member in book.members.items() if member.present}
    told: set[Person] = {one.person for one in different} | found.people
    return {
        "attempts": [
            {"attempt": one.id, "person": one.person, "before": _word(one.before), "after": _word(new[one.id])}
            for one in different
        ],
        "matrix": [[before, after, number] for (before, after), number in sorted(matrix.items())],
        "told": sorted(told & present),
        **forms.changes(found),
    }


def _with(book: Book, new: Mapping[str, AttemptResult]) -> Book:
    def changed(one: HandIn) -> HandIn:
        return replace(one, result=new[one.id].result, score=new[one.id].score) if one.id in new else one

    return replace(book, attempts={person: tuple(map(changed, each)) for person, each in book.attempts.items()})


def _word(one: AttemptResult) -> str:
    return forms.text_of(one.score) or one.word


def _found(asking: Request, key: str) -> Change:
    found = changes.find(asking.session, asking.school_class.id, key)
    if found is None:
        raise unknown(f"There is no change {key[:40]!r} in this class.")
    return found


def _open(asking: Request, key: str) -> Change:
    found = _found(asking, key)
    if found.state is not ChangeState.OPEN:
        raise ClassRefusal("not_open_change", f"This change is {found.state} already.")
    return found
