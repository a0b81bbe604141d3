"""The class in tables, for the instructors' page and for a spreadsheet; pure functions from values to values."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from grader.exercise.catalog import Catalog
from grader.judge.clues import Flag
from grader.pages import lists
from grader.pages.identity import shown_name
from grader.pages.marks import marks
from grader.pages.wording import View, clean, count
from grader.store.records import Attempt, Flagged, Neighbours, Submission, SubmissionId, User, UserId
from grader.store.roster import CommonMistake, Student

Listed = dict[str, View]  # a list of submissions
MOST = 5  # mistakes shown per exercise
FLAGS = {"any": (Flag.LOOK, Flag.READY_MADE), Flag.LOOK.value: (Flag.LOOK,), Flag.READY_MADE.value: (Flag.READY_MADE,)}
WORDS = {Flag.READY_MADE: "reaches for a ready-made step", Flag.LOOK: "holds something unusual"}
BACK: View = {"href": "/teach/", "text": "Gradebook"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class Row:
    """One student's best score on each exercise, None where there is none, and all their attempts."""

    name: str
    scores: tuple[float | None, ...]
    attempts: int


def row_of(student: Student, exercises: Sequence[str]) -> Row:
    """Return a student's line."""
    grades = [student.grades.get(id) for id in exercises]
    scores = tuple(grade.score if grade else None for grade in grades)
    return Row(student.user.name, scores, sum(grade.attempts for grade in grades if grade))


def mean(row: Row) -> float:
    """Return the mean over all exercises; one that was not tried counts as zero."""
    return round(sum(score or 0.0 for score in row.scores) / max(len(row.scores), 1), 2)


def gradebook_view(
    catalog: Catalog, students: Sequence[Student], mistakes: Sequence[CommonMistake], code: str = ""
) -> View:
    """Return the gradebook and the most common mistakes as tables."""
    grades = [{"name": exercise.title, "kind": "grade"} for exercise in catalog.values()]
    sums = [{"name": "Mean", "kind": "number"}, {"name": "Attempts", "kind": "number"}]
    begun = sum(bool(student.grades) for student in students)
    text = f"{count(len(students), 'student')}, {begun} with a graded attempt. Select a name to see the submissions."
    return {
        "label": "Gradebook",
        "code": code,
        "columns": [{"name": "Student", "kind": "link"}, *grades, *sums, {"name": "Last active", "kind": "time"}],
        "rows": [{"cells": _cells(student, list(catalog))} for student in students],
        "text": text if students else "Nobody has registered yet. Students need the class code to do so.",
        "mistakes": _mistakes_view(catalog, mistakes),
    }


def _cells(student: Student, exercises: list[str]) -> list[View]:
    row = row_of(student, exercises)
    grades = [student.grades.get(id) for id in exercises]
    name: View = {"text": shown_name(student.user), "href": student_address(student.user.id)}
    shown: list[View] = [[grade.score, grade.attempts] if grade else None for grade in grades]
    return [name, *shown, mean(row), row.attempts, student.active]


def _mistakes_view(catalog: Catalog, mistakes: Sequence[CommonMistake]) -> View:
    columns: list[View] = [{"name": "Exercise"}, {"name": "Mistake", "kind": "rich"}]
    columns += [{"name": "Students", "kind": "number"}, {"name": "Attempts", "kind": "number"}]
    rows: list[View] = []
    for id, exercise in catalog.items():
        common = [one for one in mistakes if one.exercise == id][:MOST]
        rows += [{"cells": [exercise.title, clean(one.title, 200), one.students, one.times]} for one in common]
    return {"label": "Most common mistakes", "columns": columns, "rows": rows}


def student_address(id: UserId) -> str:
    """Return where a student's submissions are."""
    return f"/teach/?student={id}"


def student_view(student: User, attempts: Sequence[Attempt], catalog: Catalog, shown: str = "") -> Listed:
    """Return what a student has handed in, all of it or what is flagged as `shown` says; lines lead to the code."""
    flags = FLAGS.get(shown, tuple(Flag))
    compared = lists.comparisons(attempts)
    chosen = [attempt for attempt in attempts if attempt.flag in flags]
    rows = [{**_line(attempt, catalog), "compare": compared.get(attempt.id)} for attempt in chosen]
    text = "No submissions yet." if not shown else "None."
    choices = _choices(f"{student_address(student.id)}&flag=", shown, whole=True)
    title = shown_name(student)
    page: Listed = {"wide": True, "title": title, "rows": rows, "text": text, "back": BACK, "choices": choices}
    return {**page, "student": student.id}


def flagged_view(found: Sequence[Flagged], catalog: Catalog, shown: str) -> Listed:
    """Return the class's submissions that are flagged as `shown` says; each line leads to code and report."""
    rows = []
    for one in found:
        line = _line(one.attempt, catalog)
        rows.append({**line, "title": f"{clean(one.name, 64)}: {line['title']}"})
    choices = _choices("/teach/?flag=", shown)
    text = "None."
    return {"wide": True, "title": "Worth a look", "rows": rows, "text": text, "back": BACK, "choices": choices}


def _line(attempt: Attempt, catalog: Catalog) -> dict[str, View]:
    line = lists.work_line(attempt, catalog)
    flag = f" · {WORDS[attempt.flag]}" if attempt.flag else ""
    return {**line, "text": f"{line['text']}{flag}", "href": submission_address(attempt.id)}


def _choices(address: str, shown: str, *, whole: bool = False) -> list[View]:
    """Return what a list may be narrowed to; with `whole`, not at all."""
    names = {"any": "All flagged submissions", **{flag.value: words.capitalize() for flag, words in WORDS.items()}}
    names = {"": "Everything", **names} if whole else names
    choices: list[View] = [
        {"text": text, "href": address + name, "here": name == shown} for name, text in names.items()
    ]
    return [{"name": "", "choices": choices}]


def submission_address(id: SubmissionId) -> str:
    """Return where an instructor reads a submission."""
    return f"/teach/?submission={id}"


def attempt_view(student: User, found: Submission, near: Neighbours, catalog: Catalog) -> dict[str, View]:
    """Return whose attempt it is, what became of it, and the way to those before and after it."""
    report, known = found.report, catalog.get(found.exercise)
    status, score = (report.status, report.score) if report else (None, None)
    attempt = Attempt(found.id, found.exercise, found.number, found.created, found.state, status, score)
    return {
        "title": f"{shown_name(student)}: {known.title if known else clean(found.exercise, 64)}",
        "text": f"Attempt {found.number} of {near.count} · {lists.outcome(attempt)}",
        "created": found.created,
        "back": {"href": student_address(student.id), "text": shown_name(student)},
        "previous": submission_address(near.previous) if near.previous else None,
        "next": submission_address(near.next) if near.next else None,
    }


def source_view(found: Submission) -> View:
    """Return the code of a submission, to be read only, with the lines that its report names."""
    lines = clean(found.source, 1 << 20).removesuffix("\n").split("\n")
    return {"lines": lines, "marks": marks(found.report) if found.report else []}


def refusal_view(why: str) -> Listed:
    """Return the page for what is not there."""
    return {"wide": True, "title": "Not found", "rows": [], "text": clean(why, 200), "back": BACK}


def csv_of(exercises: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the gradebook as CSV that a spreadsheet takes for text and numbers, never for formulas."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)  # a semicolon in a name may be a separator elsewhere
    writer.writerow(["student", *exercises, "mean", "attempts"])
    for row in rows:
        scores = ["" if score is None else score for score in row.scores]
        writer.writerow([quoted(row.name), *scores, mean(row), row.attempts])
    return file.getvalue()


def quoted(text: str) -> str:
    """Return `text` with an apostrophe before what a spreadsheet would run, however wide or far in it is written."""
    plain = unicodedata.normalize("NFKC", text)
    risky = plain.startswith(_FORMULA) or plain.lstrip().startswith(_FORMULA)
    return f"'{text}" if risky else text
