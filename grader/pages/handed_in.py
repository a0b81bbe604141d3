"""What students handed in, as an instructor reads it: lists that can be narrowed, and one attempt; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from grader.exercise.catalog import Catalog
from grader.judge.clues import Flag
from grader.pages import lists
from grader.pages.catalogue import numbered, tracks
from grader.pages.identity import id_of, shown_name
from grader.pages.render import marks
from grader.pages.wording import View, clean
from grader.service.instructor import MOST_LISTED
from grader.store.records import Attempt, ListedAttempt, Neighbours, Submission, SubmissionId, User, UserId, Wanted
from grader.store.roster import CommonMistake

Listed = dict[str, View]  # a list of submissions
FLAGS = {"any": (Flag.LOOK, Flag.READY_MADE), Flag.LOOK.value: (Flag.LOOK,), Flag.READY_MADE.value: (Flag.READY_MADE,)}
WORDS = {Flag.READY_MADE: "reaches for a ready-made step", Flag.LOOK: "holds something unusual"}
CUT = f"These are the newest {MOST_LISTED}. Choose an exercise or a mistake to see older ones."
BACK: View = {"href": "/teach/", "text": "Gradebook"}


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

    @property
    def address(self) -> str:
        """Where that list is."""
        whose = {"student": self.student} if self.student is not None else {"list": "all"}
        narrowed = {"ex": self.exercise, "mistake": self.mistake, "flag": self.flag}
        return f"/teach/?{urlencode({**whose, **{name: value for name, value in narrowed.items() if value}})}"


def student_address(id: UserId) -> str:
    """Return where a student's submissions are."""
    return Asked(student=id).address


def submission_address(id: SubmissionId) -> str:
    """Return where an instructor reads a submission."""
    return f"/teach/?submission={id}"


def best_address(id: UserId, exercise: str) -> str:
    """Return where the attempt is that a student's best score on an exercise comes from."""
    return f"/teach/?{urlencode({'student': id, 'ex': exercise, 'best': 'yes'})}"


def list_view(
    asked: Asked,
    found: Sequence[ListedAttempt],
    catalog: Catalog,
    mistakes: Sequence[CommonMistake],
    *,
    owner: User | None,
) -> Listed:
    """Return the submissions that were asked for, of one student or of the class; lines lead to the code.

    Args:
        asked: what the list is narrowed to.
        found: the submissions.
        catalog, mistakes: the exercises, and the mistakes of the class, which the list may be narrowed to.
        owner: the student whose list it is, None for that of the class.
    """
    narrowed = replace(asked, student=None) != Asked()
    compared = lists.comparisons([one.attempt for one in found]) if owner else {}
    return {
        "wide": True,
        "title": _title(asked, catalog, owner),
        "rows": [
            {**_line(one, catalog, named=owner is None), "compare": compared.get(one.attempt.id)} for one in found
        ],
        "text": "None." if narrowed else "No submissions yet.",
        "note": CUT if len(found) >= MOST_LISTED else "",
        "back": BACK,
        "filters": _filters(asked, catalog, mistakes),
        "student": owner.id if owner else None,
    }


def _title(asked: Asked, catalog: Catalog, owner: User | None) -> str:
    whose = shown_name(owner) if owner else "Worth a look" if asked.flag else "Submissions"
    return f"{whose}: {catalog[asked.exercise].title}" if asked.exercise in catalog else whose


def _line(one: ListedAttempt, catalog: Catalog, *, named: bool) -> dict[str, View]:
    line = lists.work_line(one.attempt, catalog)
    title = f"{clean(one.name, 64)}: {line['title']}" if named else line["title"]
    flag = f" · {WORDS[one.attempt.flag]}" if one.attempt.flag else ""
    return {**line, "title": title, "text": f"{line['text']}{flag}", "href": submission_address(one.attempt.id)}


def _filters(asked: Asked, catalog: Catalog, mistakes: Sequence[CommonMistake]) -> list[View]:
    """Return what the list may be narrowed to; another exercise has other mistakes."""
    exercises: list[View] = [{"name": "", "choices": [_choice(asked, "All", exercise="", mistake="")]}]
    exercises += [
        {
            "name": name,
            "choices": [_choice(asked, numbered(catalog, one.id), exercise=one.id, mistake="") for one in members],
        }
        for name, members in tracks(catalog)
    ]
    found: list[View] = [{"label": "Exercise", "groups": exercises}]
    if asked.exercise:
        titles = {
            asked.mistake: asked.mistake,
            **{m.mistake: m.title for m in mistakes if m.exercise == asked.exercise},
        }
        titles = {"": "All", **{name: title for name, title in titles.items() if name}}
        found.append(_filter("Mistake", [_choice(asked, clean(titles[name], 100), mistake=name) for name in titles]))
    flags = {"": "Everything", "any": "All flagged submissions"}
    flags |= {flag.value: words.capitalize() for flag, words in WORDS.items()}
    return [*found, _filter("Show", [_choice(asked, flags[name], flag=name) for name in flags])]


def _filter(label: str, choices: Sequence[View]) -> View:
    return {"label": label, "groups": [{"name": "", "choices": choices}]}


def _choice(asked: Asked, text: str, **changes: str) -> View:
    other = Asked(asked.student, *(changes.get(name, getattr(asked, name)) for name in ("exercise", "mistake", "flag")))
    return {"text": text, "href": other.address, "here": other == asked}


def attempt_view(student: User, found: Submission, near: Neighbours, catalog: Catalog) -> dict[str, View]:
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
        "back": {"href": student_address(student.id), "text": shown_name(student)},
        "previous": submission_address(near.previous) if near.previous else None,
        "next": submission_address(near.next) if near.next else None,
    }


def source_view(found: Submission) -> View:
    """Return the code of a submission, to be read only, with the lines that its report names."""
    code = clean(found.source, 1 << 20).removesuffix("\n")
    return {"code": code, "marks": marks(found.report) if found.report else []}


def refusal_view(why: str) -> Listed:
    """Return the page for what is not there."""
    return {"wide": True, "title": "Not found", "rows": [], "text": clean(why, 200), "back": BACK}
