"""The causes that reports on a class's attempts name: a mistake, or else where an answer begins to differ."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.judge.report import Status
from grader.rules.misconceptions import CheckedAttempt
from grader.store.classes import PERSON
from grader.store.coursework import milliseconds
from grader.store.people import student_here
from grader.store.submissions import is_of
from grader.store.tables import DiagnosisRow, GradingRow, LocationRow, MembershipRow, SubmissionRow, UserRow


def checked_attempts(session: Session, class_id: int, assignment: int | None = None) -> list[CheckedAttempt]:
    """Return the graded attempts of a class's present students, practice too, or those at one assignment.

    They stand in the order of the hand-ins. A cause is its title.
    """
    row, grading = SubmissionRow, GradingRow
    graded = (grading.status == Status.GRADED.value, grading.incident == "")
    about = is_of(class_id) if assignment is None else row.assignment_id == assignment
    query = (
        select(row.id, PERSON, row.exercise, row.created, grading.id)
        .join(UserRow, UserRow.id == row.user_id)
        .join(MembershipRow, MembershipRow.user_id == row.user_id)
        .join(grading, grading.id == row.current_grading)
        .where(student_here(class_id), about, *graded)
        .order_by(row.created, row.number)
    )
    lines = [tuple[Any, ...](line) for line in session.execute(query)]
    gradings = select(row.current_grading).join(MembershipRow, MembershipRow.user_id == row.user_id)
    mine = gradings.where(student_here(class_id), about)
    causes: defaultdict[int, set[str]] = defaultdict(set)
    for table in (DiagnosisRow, LocationRow):
        found = select(table.grading_id, table.title).where(table.grading_id.in_(mine))
        named = {id for id in causes if causes[id]}
        for id, title in session.execute(found):
            if id not in named:  # where an answer begins to differ stands for a cause without a name
                causes[id].add(title)
    return [
        CheckedAttempt(id, person, exercise, milliseconds(created), frozenset(causes[grading_id]))
        for id, person, exercise, created, grading_id in lines
    ]
