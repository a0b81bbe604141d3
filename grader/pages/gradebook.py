"""The class in tables, for the instructors' page and for a spreadsheet; pure functions from values to values."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from grader.exercise.catalog import Catalog
from grader.pages.catalogue import FULL, tracks
from grader.pages.handed_in import Asked, best_address, student_address
from grader.pages.identity import shown_name
from grader.pages.wording import View, clean, count
from grader.store.records import UserId
from grader.store.standings import CommonMistake, Student

MOST = 5  # mistakes shown per exercise
_SUMS: list[View] = [
    {"name": "Points", "kind": "number"},
    {"name": "Attempts", "kind": "number"},
    {"name": "Last active", "kind": "time"},
]
BYTE_ORDER_MARK = "\ufeff"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class Row:
    """One student's best score on each exercise, None where there is none, and all their attempts.

    The id stays when the name changes, and is never given to anybody else.
    """

    id: UserId
    name: str
    scores: tuple[float | None, ...]
    attempts: int


def row_of(student: Student, exercises: Sequence[str]) -> Row:
    """Return a student's line."""
    grades = [student.grades.get(id) for id in exercises]
    scores = tuple(grade.score if grade else None for grade in grades)
    return Row(student.user.id, student.user.name, scores, sum(grade.attempts for grade in grades if grade))


def mean(row: Row) -> float:
    """Return the mean over all exercises; one that was not tried counts as zero."""
    return round(sum(score or 0.0 for score in row.scores) / max(len(row.scores), 1), 2)


def title_of(catalog: Catalog, track: str) -> str:
    """Return the title of the gradebook's page, with the track that it is narrowed to."""
    return f"Gradebook: {track}" if track in dict(tracks(catalog)) else "Gradebook"


def gradebook_view(
    catalog: Catalog, students: Sequence[Student], mistakes: Sequence[CommonMistake], *, code: str = "", track: str = ""
) -> View:
    """Return the gradebook of all tracks or of one, sums first, and the most common mistakes as tables."""
    known = tracks(catalog)
    shown = [one for one in known if one[0] == track] or known
    exercises = [exercise for _, members in shown for exercise in members]
    sums = [{"name": f"Done of {len(exercises)}", "kind": "number"}, *_SUMS]
    begun = sum(bool(student.grades) for student in students)
    text = f"{count(len(students), 'student')}, {begun} with a graded attempt. Select a name to see the submissions, "
    text += "a score to see the attempt."
    return {
        "label": "Gradebook",
        "code": code,
        "tracks": [_track("", track), *(_track(name, track) for name, _ in known)],
        "groups": [{"name": "", "span": 1 + len(sums)}, *({"name": name, "span": len(them)} for name, them in shown)],
        "columns": [
            {"name": "Student", "kind": "link"},
            *sums,
            *({"name": one.title, "kind": "grade"} for one in exercises),
        ],
        "rows": [{"cells": _cells(student, [one.id for one in exercises])} for student in students],
        "notice": "There is no such track; these are all of them." if track and track not in dict(known) else "",
        "text": text if students else "Nobody has registered yet. Students need the class code to do so.",
        "mistakes": _mistakes_view([one.id for one in exercises], catalog, mistakes),
    }


def _track(name: str, chosen: str) -> View:
    href = f"/teach/?{urlencode({'track': name})}" if name else "/teach/"
    return {"text": name or "All", "href": href, "here": name == chosen}


def _cells(student: Student, exercises: list[str]) -> list[View]:
    user, row = student.user, row_of(student, exercises)
    scores = [score for score in row.scores if score is not None]
    name: View = {"text": shown_name(user), "href": student_address(user.id)}
    shown: list[View] = [
        [grade.score, grade.attempts, best_address(user.id, id)] if (grade := student.grades.get(id)) else None
        for id in exercises
    ]
    done = sum(score >= FULL for score in scores)
    return [name, done, round(sum(scores), 2), row.attempts, student.active, *shown]


def _mistakes_view(exercises: Sequence[str], catalog: Catalog, mistakes: Sequence[CommonMistake]) -> View:
    columns: list[View] = [{"name": "Exercise"}, {"name": "Mistake", "kind": "rich"}]
    columns += [{"name": "Students", "kind": "number"}, {"name": "Attempts", "kind": "tally"}]
    rows: list[View] = []
    for id in exercises:
        for one in [one for one in mistakes if one.exercise == id][:MOST]:
            times: View = [one.times, Asked(exercise=id, mistake=one.mistake).address]
            rows.append({"cells": [catalog[id].title, clean(one.title, 200), one.students, times]})
    return {"label": "Most common mistakes", "find": "Find a mistake", "columns": columns, "rows": rows}


def csv_of(exercises: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the gradebook as CSV that a spreadsheet takes for text and numbers, never for formulas.

    It begins with a byte-order mark, without which Excel reads no accents. No learning platform takes the columns as
    they are, so whoever brings them there goes through a spreadsheet, or a program that reads `utf-8-sig`.
    """
    file = io.StringIO()
    file.write(BYTE_ORDER_MARK)
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)  # a semicolon in a name may be a separator elsewhere
    writer.writerow(["student_id", "student", *exercises, "mean", "attempts"])
    for row in rows:
        scores = ["" if score is None else score for score in row.scores]
        writer.writerow([row.id, quoted(row.name), *scores, mean(row), row.attempts])
    return file.getvalue()


def quoted(text: str) -> str:
    """Return `text` with an apostrophe before what a spreadsheet would run, however wide or far in it is written."""
    plain = unicodedata.normalize("NFKC", text)
    risky = plain.startswith(_FORMULA) or plain.lstrip().startswith(_FORMULA)
    return f"'{text}" if risky else text
