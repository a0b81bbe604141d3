"""What a student may see of their results, and when."""

from __future__ import annotations

from functools import partial

from grader.rules.line import GradeLine, line_of
from grader.rules.values import Assignment, Book, Person, Show


def shows(book: Book, person: Person, assignment: Assignment, show: Show, *, now: int) -> bool:
    """Return whether what is shown from `show` on is to be seen by the person now, by their own due time."""
    if show is Show.AT_ONCE:
        return True
    if show is Show.NEVER:
        return False
    if show is Show.AFTER_PUBLICATION:
        return assignment.published is not None and assignment.published <= now and person not in assignment.held
    days = (assignment.late.cutoff or 0) if show is Show.AFTER_CUTOFF else 0
    return now >= book.boundary(person, assignment, days)


def hidden_parts(book: Book, person: Person, assignment: Assignment, now: int) -> frozenset[str]:
    """Return the dimensions of a report that the person is to see later than the rest of it."""
    parts = assignment.show_checks.items()
    return frozenset(part for part, show in parts if not shows(book, person, assignment, show, now=now))


def is_visible(book: Book, person: Person, assignment: Assignment, now: int) -> bool:
    """Return whether the person sees their score. It is hidden as long as any part of the report is."""
    is_shown = shows(book, person, assignment, assignment.show, now=now)
    return is_shown and not hidden_parts(book, person, assignment, now)


def own_line(book: Book, person: Person, now: int) -> GradeLine:
    """Return a person's line as they may see it: nothing in it depends on a result that is hidden from them."""
    visible = partial(is_visible, book, person, now=now)
    return line_of(book, person, now, is_hidden=lambda assignment: not visible(assignment))
