"""Whether copies stand at the top of a class, and how long a class takes: `python -m benchmarks similarity`.

The class of an exercise is put together from the project's own answers. *Independent*: right answers no two of which
share more than two lines of five. *One lecture*: wrong answers most of whose lines stand in one right answer; that
one is the textbook, beside the reference and the ways that are shown after full marks, and no work of the class. Of
the independent answers each third one is handed in once more, in disguise, until each had its turn.

Ignored is, in turn, what the exercise gives (starter, statement); the textbook too; and all right answers, as in a
real class: there one half of the independent answers is the class, and all others are ignored, then the other half.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from math import inf
from statistics import median
from typing import Annotated

import typer

from benchmarks.disguise import Disguise, disguise
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.judge.source import python_of
from grader.pages.render import solutions_view
from grader.similarity import ClassWork, common_texts, compare

_FEW = 4  # works; a class of fewer says nothing
_LINES_OF_TWO_HANDS = 0.4
_LINES_OF_A_LECTURE = 0.5
_THIRDS = 3


@dataclass(frozen=True, slots=True)
class School:
    """The answers to one exercise, by their names, and the texts that everybody may have."""

    independent: Mapping[str, str]
    lecture: Mapping[str, str]
    right: Mapping[str, str]  # all right answers
    given: list[str]
    textbook: list[str]
    entries: tuple[str, ...]


class Ignored(StrEnum):
    """What is ignored, each with what stands before it."""

    GIVEN = "what is given"
    TEXTBOOK = "textbook"
    RIGHT = "right answers"


@dataclass(slots=True)
class Places:
    """How copies stand. `auc` has for each copy the share of independent pairs below it; ties count half."""

    above_independent: list[bool] = field(default_factory=list)
    above_lecture: list[bool] = field(default_factory=list)
    auc: list[float] = field(default_factory=list)
    lecture: list[float] = field(default_factory=list)  # percentiles of its pairs


def similarity(
    exercise: Annotated[list[str] | None, typer.Option(help="only these exercises")] = None,
    students: Annotated[int, typer.Option(help="students of the class that is timed")] = 300,
) -> None:
    """Print where disguised copies stand among independent answers, and the time that a class takes."""
    catalog = Catalog.load()
    schools = [school for name in exercise or catalog if (school := _school(catalog, catalog[name])) is not None]
    typer.echo(
        f"{len(schools)} exercises, {sum(len(one.independent) for one in schools)} independent answers, "
        f"{sum(len(one.lecture) for one in schools)} of one lecture\n"
    )
    heads = ("copy", "ignored", "above all independent", "AUC", "above the lecture", "lecture")
    typer.echo("{:<11}{:<14}{:>22}{:>8}{:>19}{:>9}".format(*heads))
    for how, ignored in product(Disguise, Ignored):
        places = Places()
        for school in schools:
            for works, common in _classes(school, ignored):
                _place(school, works, common, how=how, places=places)
        above = (
            f"{_share(places.above_independent):>22.1%}{_share(places.auc):>8.4f}{_share(places.above_lecture):>19.1%}"
        )
        typer.echo(f"{how.name.lower():<11}{ignored:<14}{above}{median(places.lecture):>9.0f}")
    typer.echo("\nlecture: median percentile of the pairs of one lecture in their class\n")
    for name in ("softmax", "multi_head_attention", "attention_seq2seq"):
        _print_time(catalog[name], students)


def _share(values: list[bool] | list[float]) -> float:
    return sum(values) / len(values)


def _school(catalog: Catalog, exercise: Exercise) -> School | None:
    """Return the answers to an exercise; None where too few are left for a class."""
    examples = {
        one.path.stem: (_text(one.path.read_text("utf-8")), one.loses) for one in read_examples(exercise.folder)
    }
    shown = solutions_view(catalog, exercise, {exercise.id: inf})
    assert shown is not None
    ways = [way["code"] for way in shown["ways"]]  # one of them is the reference
    right = {name: text for name, (text, loses) in examples.items() if loses is None}
    wrong = {name: text for name, (text, loses) in examples.items() if loses is not None}
    book = max(
        right.values(), key=lambda text: sum(_alike(text, other) > _LINES_OF_A_LECTURE for other in wrong.values())
    )
    independent: dict[str, str] = {}
    for name, text in right.items():
        others = (book, *ways, *independent.values())
        if all(_alike(text, other) <= _LINES_OF_TWO_HANDS for other in others):
            independent[name] = text
    lecture = [name for name, text in wrong.items() if _alike(text, book) > _LINES_OF_A_LECTURE]
    lecture = lecture[: len(independent) // 2]
    if len(independent) < _FEW or len(lecture) < _FEW // 2:
        return None
    entries = (exercise.spec.entry.name, *(part.entry.name for part in exercise.spec.parts.values()))
    given = common_texts(exercise)[: -1 - len(right)]  # without the reference and the right answers
    return School(independent, {name: wrong[name] for name in lecture}, right, given, [book, *ways], entries)


def _text(source: str) -> str:
    """Return an example as Python, without the lines that say its verdict."""
    lines = python_of(source).split("\n")
    return "\n".join(line for line in lines if not line.startswith(("# verdict:", "# diagnosis:")))


def _alike(first: str, second: str) -> float:
    """Return the share of the shorter text's lines that the other one has, blanks and comments aside."""
    mine, others = _lines(first), _lines(second)
    return len(mine & others) / max(1, min(len(mine), len(others)))


def _lines(text: str) -> set[str]:
    plain = {"".join(line.split("#")[0].split()) for line in text.split("\n")}
    return {line for line in plain if line and not line.startswith(("import", "from"))}


def _classes(school: School, ignored: Ignored) -> Iterator[tuple[list[str], list[str]]]:
    """Yield which independent answers are a class, and what is ignored there."""
    names = list(school.independent)
    if ignored is Ignored.RIGHT:
        for some in (names[::2], names[1::2]):
            others = [text for name, text in school.right.items() if name not in some]
            yield some, [*school.given, *school.textbook, *others]
    else:
        yield names, [*school.given, *(school.textbook if ignored is Ignored.TEXTBOOK else ())]


def _copies(school: School, names: list[str], how: Disguise) -> Iterator[ClassWork]:
    for name in names:
        text = disguise(school.independent[name], how, school.entries, seed=len(name))
        yield ClassWork(f"copy of {name}", f"copier of {name}", text)


def _place(school: School, names: list[str], common: list[str], *, how: Disguise, places: Places) -> None:
    """Add where the copies of each third of a class stand."""
    works = [ClassWork(name, name, school.independent[name]) for name in names]
    works += [ClassWork(name, name, text) for name, text in school.lecture.items()]
    for third in range(_THIRDS):
        copies = list(_copies(school, names[third::_THIRDS], how))
        everybody = works + copies
        pairs = compare(everybody, common, most=len(everybody) ** 2).pairs
        strengths = {frozenset((pair.left, pair.right)): pair.strength for pair in pairs}
        percentiles = {frozenset((pair.left, pair.right)): pair.percentile for pair in pairs}
        lecture = [frozenset((a, b)) for a in school.lecture for b in school.lecture if a < b]
        taught = max(strengths.get(one, 0.0) for one in lecture)
        ids = [work.id for work in works]
        independent = [frozenset((a, b)) for a in ids for b in ids if a < b and not {a, b} <= {*school.lecture}]
        others = [strengths.get(one, 0.0) for one in independent]
        for copy in copies:
            strength = strengths.get(frozenset((copy.id, copy.id.removeprefix("copy of "))), 0.0)
            places.above_independent.append(strength > max(others))
            places.above_lecture.append(strength > taught)
            below = sum(other < strength for other in others) + 0.5 * sum(other == strength for other in others)
            places.auc.append(below / len(others))
        places.lecture += [percentiles.get(one, 0.0) for one in lecture]


def _print_time(exercise: Exercise, students: int) -> None:
    """Print what a class takes whose students have handed in the examples, each in a disguise of its own."""
    texts = [_text(one.path.read_text("utf-8")) for one in read_examples(exercise.folder)]
    entries = (exercise.spec.entry.name,)
    works = []
    for number in range(students):
        how = Disguise(1 + number // len(texts) % len(Disguise))
        works.append(
            ClassWork(f"{number:04}", str(number), disguise(texts[number % len(texts)], how, entries, seed=number))
        )
    for title, some in (
        (exercise.id, works),
        ("filled up to 10 kB", [ClassWork(one.id, one.owner, _filled(works, at)) for at, one in enumerate(works)]),
        ("all the same", [ClassWork(one.id, one.owner, texts[0]) for one in works]),
    ):
        start = time.process_time()
        found = compare(some, common_texts(exercise))
        seconds = time.process_time() - start
        size = sum(len(one.text) for one in some) / len(some) / 1000
        typer.echo(
            f"{title}: {students} students, {size:.1f} kB each: {seconds:.2f} s of processor time, "
            f"{len(found.pairs)} pairs, {len(found.without_own)} works without anything of their own"
        )


def _filled(works: list[ClassWork], at: int) -> str:
    """Return a work with others behind it, until it is 10 kB long."""
    text, step = works[at].text, at
    while len(text) < 10_000:
        step += 7 + at % 11
        text += works[step % len(works)].text
    return text[:10_000]
