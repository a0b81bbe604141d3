"""Regrades of a class: made with a preview, and then applied or cancelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.rules.preview import preview
from grader.rules.values import Book, HandIn, Person, Result
from grader.service.classes import forms, work
from grader.service.classes.events import Apply, CancelChange, Regrade, SetVersion
from grader.service.classes.requests import ClassRefusal, Request, bad_value, check_reason, unknown
from grader.store import changes, gradings
from grader.store.changes import AttemptResult, Change, ChangeState, RegradedAttempt


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
    change = changes.add(
        session, one.id, event.change, exercise=event.exercise, keep=event.keep, reason=event.reason, by=asking.user,
        now=asking.now,
    )  # fmt: skip
    for attempt in found:
        if not attempt.is_given:
            raise bad_value("Only given results are regraded here so far.")
        work.grade_as_given(asking, attempt.id, attempt.exercise, attempt.raw.decode(), change=change)
    made = _found(asking, event.change)
    regraded = changes.results(session, made, one.id)
    answer = _shown(asking, regraded, made.keep)
    changes.note_preview(session, change, {name: answer[name] for name in ("cells", "banks")})
    asking.note("regrade", event.change, after={"exercise": event.exercise, "keep": event.keep}, reason=event.reason)
    return {"gradings": len(regraded), **answer}


def apply(asking: Request, event: Apply) -> Mapping[str, Any]:
    """Let the new results of a change count."""
    made = _open(asking, event.change)
    regraded = changes.results(asking.session, made, asking.school_class.id)
    shown = _shown(asking, regraded, made.keep)
    if {name: shown[name] for name in ("cells", "banks")} != made.seen:
        why = "Grades have changed since the preview. Cancel this change, and make it anew."
        raise ClassRefusal("changed_since", why)
    for one in regraded:
        if one.grading is not None and chosen(one, made.keep) is not one.before:
            gradings.make_current(asking.session, one.id, one.grading, asking.now)
    people = [asking.student(person).user for person in shown["told"]]
    text = f"{made.exercise} was graded once more: {made.reason}"
    changes.notify(asking.session, made.id, people, text=text, now=asking.now)
    changes.end(asking.session, made.id, ChangeState.APPLIED, asking.now)
    asking.note("apply", event.change, before=None, after=made.seen, reason=made.reason)
    return {}


def cancel(asking: Request, event: CancelChange) -> Mapping[str, Any]:
    """Let the new results of a change never count."""
    made = _open(asking, event.change)
    changes.end(asking.session, made.id, ChangeState.CANCELLED, asking.now)
    asking.note("cancel_change", event.change, reason=made.reason)
    return {}


def chosen(one: RegradedAttempt, keep: str) -> AttemptResult:
    """Return which of an attempt's two results counts; one that uses up no attempt never replaces a graded one."""
    before, after = one.before, one.after
    if after is None or (before.result, before.score, before.word) == (after.result, after.score, after.word):
        return before
    if keep == "new":
        return after
    is_better = after.result is Result.GRADED and (before.score is None or (after.score or 0) > before.score)
    return after if is_better else before


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
