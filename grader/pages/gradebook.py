"""The class as instructors read it: tables, lists that can be narrowed, one attempt, and the export.

All of this is made by pure functions from values to values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from grader.exercise.catalog import Catalog
from grader.exports.cells import BYTE_ORDER_MARK, quoted
from grader.judge.report import Flag
from grader.pages import lists
from grader.pages.catalogue import FULL, by_track, numbered, tracks
from grader.pages.identity import id_of, shown_name
from grader.pages.render import marks
from grader.pages.wording import View, clean, count
from grader.service.classroom import MOST_LISTED
from grader.store.records import Attempt, ListedAttempt, Neighbours, Submission, User, UserId, Wanted
from grader.store.standings import CommonMistake, Student

HERE = "/teach/"
MOST = 5  # mistakes shown per exercise
To = Callable[..., str]  # returns the address of another page of the class, by its path and the fields of its query
_SUMS: list[View] = [
    {"name": "Points", "kind": "number"},
    {"name": "Attempts", "kind": "number"},
    {"name": "Last active", "kind": "time"},
]


def addresses_in(key: str) -> To:
    """Return what gives the addresses of the pages of the class of that key; without one they name no class."""

    def to(path: str, **fields: object) -> str:
        query = {name: value for name, value in {"class": key, **fields}.items() if value != ""}
        return f"{path}?{urlencode(query)}" if query else path

    return to


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
    catalog: Catalog, students: Sequence[Student], mistakes: Sequence[CommonMistake], to: To, *, track: str = ""
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
        "tracks": [_track("", track, to), *(_track(name, track, to) for name, _ in known)],
        "groups": [{"name": "", "span": 1 + len(sums)}, *({"name": name, "span": len(them)} for name, them in shown)],
        "columns": [
            {"name": "Student", "kind": "link"},
            *sums,
            *({"name": one.title, "kind": "grade"} for one in exercises),
        ],
        "rows": [{"cells": _cells(student, [one.id for one in exercises], to)} for student in students],
        "notice": "There is no such track; these are all of them." if track and track not in dict(known) else "",
        "text": text if students else "Nobody has registered yet. Students need the class code to do so.",
        "mistakes": _mistakes_view([one.id for one in exercises], catalog, mistakes, to),
    }


def _track(name: str, chosen: str, to: To) -> View:
    return {"text": name or "All", "href": to(HERE, track=name), "here": name == chosen}


def _cells(student: Student, exercises: list[str], to: To) -> list[View]:
    user, row = student.user, row_of(student, exercises)
    scores = [score for score in row.scores if score is not None]
    name: View = {"text": shown_name(user), "href": to(HERE, student=user.id)}
    shown: list[View] = [
        [grade.score, grade.attempts, to(HERE, student=user.id, ex=id, best="yes")]
        if (grade := student.grades.get(id))
        else None
        for id in exercises
    ]
    done = sum(score >= FULL for score in scores)
    return [name, done, round(sum(scores), 2), row.attempts, student.active, *shown]


def _mistakes_view(exercises: Sequence[str], catalog: Catalog, mistakes: Sequence[CommonMistake], to: To) -> View:
    columns: list[View] = [{"name": "Exercise"}, {"name": "Mistake", "kind": "rich"}]
    columns += [{"name": "Students", "kind": "number"}, {"name": "Attempts", "kind": "tally"}]
    rows: list[View] = []
    for id in exercises:
        for one in [one for one in mistakes if one.exercise == id][:MOST]:
            times: View = [one.times, Asked(exercise=id, mistake=one.mistake).address(to)]
            rows.append({"cells": [catalog[id].title, clean(one.title, 200), one.students, times]})
    return {"label": "Most common mistakes", "find": "Find a mistake", "columns": columns, "rows": rows}


def csv_of(exercises: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the gradebook as CSV that a spreadsheet takes for text and numbers, never for formulas.

    It begins with a byte-order mark, without which Excel reads no accents. No learning platform takes the columns as
    they are: what these take is in `grader.exports`.
    """
    file = io.StringIO()
    file.write(BYTE_ORDER_MARK)
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["student_id", "student", *exercises, "mean", "attempts"])
    for row in rows:
        scores = ["" if score is None else score for score in row.scores]
        writer.writerow([row.id, quoted(row.name), *scores, mean(row), row.attempts])
    return file.getvalue()


Listed = dict[str, View]  # a list of submissions
FLAGS = {"any": (Flag.LOOK, Flag.READY_MADE), Flag.LOOK.value: (Flag.LOOK,), Flag.READY_MADE.value: (Flag.READY_MADE,)}
WORDS = {Flag.READY_MADE: "reaches for a ready-made step", Flag.LOOK: "holds something unusual"}
CUT = f"These are the newest {MOST_LISTED}. Choose an exercise or a mistake to see older ones."


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks of a list: whose submissions, and what the list is narrowed to."""

    student: UserId | None = None
    exercise: str = ""
    mistake: str = ""
    flag: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked | None:
        """Return what the fields of an address ask; None where they ask for no list.

        A student that is none is nobody, and not everybody.
        """
        id = id_of(query["student"]) if "student" in query else None
        asked = cls(id, query.get("ex", ""), query.get("mistake", ""), query.get("flag", ""))
        return asked if query.get("list") or asked != cls() else None

    def what_is_missing(self, catalog: Catalog) -> str:
        """Return a sentence about what the list cannot be narrowed to; empty where there is nothing of the kind."""
        if self.exercise and self.exercise not in catalog:
            return "There is no such exercise."
        return "There is no such list." if self.flag and self.flag not in FLAGS else ""

    @property
    def wanted(self) -> Wanted:
        """What the store is asked for."""
        return Wanted(self.student, self.exercise, self.mistake, FLAGS.get(self.flag, ()))

    def address(self, to: To) -> str:
        """Return where that list is."""
        whose = {"student": self.student} if self.student is not None else {"list": "all"}
        return to(HERE, **whose, ex=self.exercise, mistake=self.mistake, flag=self.flag)


def list_view(
    asked: Asked,
    found: Sequence[ListedAttempt],
    catalog: Catalog,
    mistakes: Sequence[CommonMistake],
    *,
    owner: User | None,
    to: To,
) -> Listed:
    """Return the submissions that were asked for, of one student or of the class; lines lead to the code.

    Args:
        asked: what the list is narrowed to.
        found: the submissions.
        catalog, mistakes: the exercises, and the mistakes of the class, which the list may be narrowed to.
        owner: the student whose list it is, None for that of the class.
        to: gives the addresses of its pages.
    """
    narrowed = replace(asked, student=None) != Asked()
    compared = lists.comparisons([one.attempt for one in found]) if owner else {}
    return {
        "wide": True,
        "title": _list_title(asked, catalog, owner),
        "rows": [
            {**_list_line(one, catalog, to, named=owner is None), "compare": compared.get(one.attempt.id)}
            for one in found
        ],
        "text": "None." if narrowed else "No submissions yet.",
        "note": CUT if len(found) >= MOST_LISTED else "",
        "back": {"href": to(HERE), "text": "Gradebook"},
        "filters": _filters(asked, catalog, mistakes, to),
        "student": {"id": owner.id, "link": to("/teach/reset"), "role": to("/teach/member", person=owner.id)}
        if owner
        else None,
    }


def _list_title(asked: Asked, catalog: Catalog, owner: User | None) -> str:
    whose = shown_name(owner) if owner else "Worth a look" if asked.flag else "Submissions"
    return f"{whose}: {catalog[asked.exercise].title}" if asked.exercise in catalog else whose


def _list_line(one: ListedAttempt, catalog: Catalog, to: To, *, named: bool) -> dict[str, View]:
    line = lists.work_line(one.attempt, catalog)
    title = f"{clean(one.name, 64)}: {line['title']}" if named else line["title"]
    flag = f" · {WORDS[one.attempt.flag]}" if one.attempt.flag else ""
    return {**line, "title": title, "text": f"{line['text']}{flag}", "href": to(HERE, submission=one.attempt.id)}


def _filters(asked: Asked, catalog: Catalog, mistakes: Sequence[CommonMistake], to: To) -> list[View]:
    """Return what the list may be narrowed to; another exercise has other mistakes."""

    def choice(text: str, **changes: str) -> View:
        kept = {name: getattr(asked, name) for name in ("exercise", "mistake", "flag")}
        other = Asked(asked.student, **{**kept, **changes})
        return {"text": text, "href": other.address(to), "here": other == asked}

    exercises: list[View] = [
        {"name": "", "choices": [choice("All", exercise="", mistake="")]},
        *by_track(catalog, lambda one: choice(numbered(catalog, one.id), exercise=one.id, mistake="")),
    ]
    found: list[View] = [{"label": "Exercise", "groups": exercises}]
    if asked.exercise:
        titles = {
            asked.mistake: asked.mistake,
            **{m.mistake: m.title for m in mistakes if m.exercise == asked.exercise},
        }
        titles = {"": "All", **{name: title for name, title in titles.items() if name}}
        found.append(_filter("Mistake", [choice(clean(titles[name], 100), mistake=name) for name in titles]))
    flags = {"": "Everything", "any": "All flagged submissions"}
    flags |= {flag.value: words.capitalize() for flag, words in WORDS.items()}
    return [*found, _filter("Show", [choice(flags[name], flag=name) for name in flags])]


def _filter(label: str, choices: Sequence[View]) -> View:
    return {"label": label, "groups": [{"name": "", "choices": choices}]}


def attempt_view(student: User, found: Submission, near: Neighbours, catalog: Catalog, to: To) -> dict[str, View]:
    """Return whose attempt it is, what became of it, and the way to those before and after it."""
    report, known = found.report, catalog.get(found.exercise)
    attempt = Attempt(found.id, found.exercise, found.number, found.created, found.state, None, None)
    if report is not None:
        named = tuple(one.title for one in report.diagnosis)
        begins = report.location.title if report.location else ""
        attempt = replace(attempt, status=report.status, score=report.score, mistakes=named, begins=begins)
    place = f"Attempt {found.nth} of {near.count}" if found.nth else lists.called(0)
    return {
        "title": f"{shown_name(student)}: {known.title if known else clean(found.exercise, 64)}",
        "text": f"{place} · {lists.outcome(attempt).removesuffix('.')}",
        "created": found.created,
        "back": {"href": to(HERE, student=student.id), "text": shown_name(student)},
        "previous": to(HERE, submission=near.previous) if near.previous else None,
        "next": to(HERE, submission=near.next) if near.next else None,
    }


def source_view(found: Submission) -> View:
    """Return the code of a submission, to be read only, with the lines that its report names."""
    code = clean(found.source, 1 << 20).removesuffix("\n")
    return {"code": code, "marks": marks(found.report) if found.report else []}


def refusal_view(why: str, to: To) -> Listed:
    """Return the page for what is not there."""
    return {
        "wide": True,
        "title": "Not found",
        "rows": [],
        "text": clean(why, 200),
        "back": {"href": to(HERE), "text": "Gradebook"},
    }
