"""What students do in a class: hand in, and set an attempt aside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from grader.judge.report import Dimension, Report, Status, hidden_with
from grader.rules.hand_in import Accepted, NotAccepted, Practice, WhyNot, may_set_aside
from grader.rules.hand_in import hand_in as rule_of
from grader.rules.sentences import exact
from grader.rules.values import Assignment, Book, Person
from grader.rules.visible import hidden_parts, shows
from grader.service.classes.events import HandInWork, SetAside
from grader.service.classes.requests import ClassRefusal, Request, bad_value, unknown
from grader.store import changes, classes, coursework, gradings, keys, submissions, turns
from grader.store.audit import subject_of
from grader.store.classes import SchoolClass
from grader.store.engine import Session
from grader.store.gradings import Grading, Versions
from grader.store.records import Reason, Role, Submission, SubmissionId, UserId

GIVEN_FAULT = "given"  # the incident of a result that is given as a fault of ours
_WHY = {
    WhyNot.UNKNOWN: "There is no such exercise in this assignment.",
    WhyNot.NOT_MEMBER: "You are no longer in this class.",
    WhyNot.NOT_OPEN: "This assignment has not opened yet.",
    WhyNot.CLOSED: "This assignment is closed; you can go on practising.",
    WhyNot.NO_ATTEMPTS: "You have no attempt left at this exercise.",
}
Given = Fraction | Status | str  # a score, or a word for what became of it


def hand_in(asking: Request, event: HandInWork) -> Mapping[str, Any]:
    """Take a hand-in whose result is given, by the rules."""
    id = SubmissionId(event.id)
    is_self = asking.user is not None and event.person == asking.by
    user = asking.user if is_self and asking.user is not None else asking.member(event.person).user
    turns.of_person(asking.session, user)
    if submissions.owner(asking.session, id) is not None:
        raise ClassRefusal("exists", f"There is a submission {event.id!r} already.")
    taken = rule(asking, user, event.assignment, event.exercise)
    submission = _submission(asking, user, event)
    submissions.add(asking.session, submission)
    _count(asking, id, event.assignment, taken)
    if event.source is None:
        grade_as_given(asking, id, event.exercise, submission.source)
    elif asking.grading is not None:
        priority = round(asking.now * 1000)
        asking.grading.queue.submit(asking.session, id, queue=submission.device, priority=priority)
    return {"practice": True} if isinstance(taken, Practice) else {"practice": False, "days_late": taken.days_late}


def rule(asking: Request, user: UserId, assignment: str | None, exercise: str) -> Accepted | Practice:
    """Return what becomes of somebody's hand-in now.

    Raises:
        ClassRefusal: it is not taken; nothing is used up.
    """
    person = classes.person_of(asking.session, user)
    taken = rule_of(asking.book(user), person, assignment, exercise, at=asking.at)
    if isinstance(taken, NotAccepted):
        more = {} if taken.used is None else {"used": taken.used}
        raise ClassRefusal(taken.code.value, _WHY[taken.code], **more)
    return taken


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a hand-in to an exercise goes: an assignment of a class, and what it costs now, in words."""

    one: SchoolClass
    book: Book
    person: Person
    assignment: Assignment
    taken: Accepted | Practice | NotAccepted

    @property
    def counts(self) -> bool:
        """Whether a hand-in counts for it now."""
        return isinstance(self.taken, Accepted)

    @property
    def ends(self) -> int:
        """The instant from which on a hand-in is late."""
        return self.book.boundary(self.person, self.assignment, 0)


def destinations(session: Session, user: UserId, exercise: str, now: float) -> list[Destination]:
    """Return the assignments that an exercise is part of for somebody; the one to which a hand-in goes comes first.

    That is the one that takes it and ends first; where none takes it, a hand-in is practice.
    """
    found, at = [], coursework.milliseconds(now)
    for class_id, key in coursework.items_of(session, user, exercise):
        one = classes.class_of_id(session, class_id)
        book, person = coursework.book(session, one, user), classes.person_of(session, user)
        taken = rule_of(book, person, key, exercise, at=at)
        found.append(Destination(one, book, person, book.assignments[key], taken))
    return sorted(found, key=lambda each: (not each.counts, each.ends))


def store_where_it_counts(session: Session, submission: Submission) -> None:
    """Store a new submission, for the assignment to which it goes now, or as practice."""
    goals = destinations(session, submission.user, submission.exercise, submission.created)
    submissions.add(session, submission)
    goal = next(iter(goals), None)
    if goal is not None and isinstance(goal.taken, Accepted):
        id = coursework.assignment_id(session, goal.one.id, goal.assignment.key)
        assert id is not None
        coursework.assign_submission(session, submission.id, id, goal.taken.promise)


def sealed(session: Session, user: UserId, now: float) -> Mapping[str, frozenset[Dimension]]:
    """Return the submissions whose scores their owner is not to see at a time, with what is hidden of each report."""
    found: dict[str, frozenset[Dimension]] = {}
    at = coursework.milliseconds(now)
    for class_id in coursework.hiding_classes(session, user):
        book = coursework.book(session, classes.class_of_id(session, class_id), user)
        for person in book.members:
            hidden = {one.key: _hidden(book, person, one, at) for one in book.assignments.values()}
            attempts = book.attempts.get(person, ())
            found |= {one.id: hidden[one.assignment] for one in attempts if hidden[one.assignment]}
    return found


def _hidden(book: Book, person: Person, assignment: Assignment, at: int) -> frozenset[Dimension]:
    """Return the dimensions that are hidden of a report: all of them where nothing of it is shown."""
    if not shows(book, person, assignment, assignment.show, now=at):
        return frozenset(Dimension)
    return hidden_with(Dimension(part) for part in hidden_parts(book, person, assignment, at))


def role_over(session: Session, user: UserId, id: SubmissionId) -> Role | None:
    """Return as what somebody has to do with another person's submission: instructor, assistant, or not at all.

    An attempt at an assignment concerns the staff of its class, practice that of each class in which its owner studies;
    an assistant has their sections only.
    """
    place = coursework.place_of(session, id)
    return None if place is None else _role_over(session, user, place[0], place[1])


def reads_practice(session: Session, user: UserId, owner: UserId) -> bool:
    """Return whether another person's practice is for somebody to read: as staff of a class in which they study."""
    return _role_over(session, user, owner, None) is not None


def _role_over(session: Session, user: UserId, owner: UserId, class_id: int | None) -> Role | None:
    found: set[Role] = set()
    for one, own in classes.classes_of(session, user):
        whose = classes.membership(session, one.id, owner)
        if whose is None or own.role is Role.STUDENT:
            continue
        is_here = one.id == class_id if class_id is not None else whose.present and whose.role is Role.STUDENT
        if is_here and (own.role is Role.INSTRUCTOR or whose.section in own.sections):
            found.add(own.role)
    return Role.INSTRUCTOR if Role.INSTRUCTOR in found else next(iter(found), None)


def set_aside(asking: Request, event: SetAside) -> Mapping[str, Any]:
    """Let an attempt of one's own count no longer, or again."""
    user = classes.find_person(asking.session, event.person)
    place = coursework.place_of(asking.session, SubmissionId(event.id))
    if user is None or place is None or place[0] != user or place[1] is None:
        raise unknown("There is no such attempt among yours.")
    turns.of_person(asking.session, user)
    one = classes.class_of_id(asking.session, place[1])
    known = classes.membership(asking.session, one.id, user)
    asking = replace(asking, one=one, own=known)
    if known is None or not known.present:
        raise ClassRefusal(WhyNot.NOT_MEMBER.value, _WHY[WhyNot.NOT_MEMBER])
    book = asking.book(user)
    assignment = book.assignments[place[2]]
    if known.person not in book.members or not may_set_aside(book, known.person, assignment, asking.at):
        raise ClassRefusal(WhyNot.CLOSED.value, "This assignment is closed, so which attempts count stays as it is.")
    coursework.set_aside(asking.session, SubmissionId(event.id), aside=not event.undo)
    asking.note("aside", subject_of(event.person, event.id), before=event.undo, after=not event.undo)
    return {}


def grade_as_given(asking: Request, id: SubmissionId, exercise: str, text: str, *, change: int | None = None) -> None:
    """Store the result that a text of `_text_of` gives by the present version, as the current one or a change's."""
    version = changes.version_of(asking.session, exercise)
    found = _result(text, version)
    if found == "cancelled":
        if change is None:
            changes.cancel_given(asking.session, id, asking.now)
        return
    score = float(found) if isinstance(found, Fraction) else 0.0
    status = found if isinstance(found, Status) else Status.GRADED
    incident = GIVEN_FAULT if found == "ours" else ""
    report = Report(exercise, status, score, 0, "cpu", 0.0, incident=incident)
    made_with = Versions(exercise=version, grader="", torch="")
    grading = replace(Grading.of(report, made_with, asking.now), reason=Reason.GIVEN)
    added = gradings.add(asking.session, id, grading, change=change)
    if change is None:
        gradings.make_current(asking.session, id, added, asking.now)


def _submission(asking: Request, user: UserId, event: HandInWork) -> Submission:
    """Return what is stored of a hand-in: its source, or the result that is given in place of one."""
    id, seed = SubmissionId(event.id), 0
    if event.source is None:
        raw, version = _text_of(event).encode(), "given"
        _result(raw.decode(), changes.version_of(asking.session, event.exercise))
    elif asking.grading is None:
        raise bad_value("A source is graded where the service runs; here a score or a status is expected.")
    elif event.exercise not in asking.grading.catalog:
        raise unknown(f"There is no exercise {event.exercise!r}.")
    else:
        raw, version = event.source.encode(errors="surrogatepass"), asking.grading.catalog[event.exercise].version
        seed = keys.seed_of(asking.grading.secret, id)
    return Submission(
        id=id, user=user, exercise=event.exercise, exercise_version=version, raw=raw, seed=seed, device="cpu",
        created=asking.now,
    )  # fmt: skip


def _count(asking: Request, id: SubmissionId, assignment: str | None, taken: Accepted | Practice) -> None:
    if isinstance(taken, Accepted) and assignment is not None:
        coursework.assign_submission(asking.session, id, asking.assignment(assignment), taken.promise)


def _text_of(event: HandInWork) -> str:
    """Return a given result as it is stored in place of a source."""
    if event.scores is not None:
        return json.dumps({"given": {version: _word(one) for version, one in event.scores.items()}})
    one = event.score if event.score is not None else event.status
    if one is None:
        raise bad_value("A score, a status, or a source is expected.")
    return json.dumps({"given": _word(one)})


def _word(one: Given) -> str:
    return exact(one) if isinstance(one, Fraction) else str(one)


def _result(text: str, version: str) -> Given:
    given = json.loads(text)["given"]
    if isinstance(given, dict):
        if version not in given:
            raise bad_value(f"There is no result for version {version!r}.")
        given = given[version]
    if given in (Status.UNGRADABLE.value, Status.REJECTED.value):
        return Status(given)
    return given if given in ("ours", "cancelled") else Fraction(given)
