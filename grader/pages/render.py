"""A report turned into what the exercise page draws; pure functions from values to values."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import dropwhile, groupby
from pathlib import Path

from grader.exercise.catalog import Catalog, Exercise
from grader.judge.report import (
    HALVED,
    SAME_AS,
    WHY,
    CheckResult,
    DevicePanel,
    Diagnosis,
    Dimension,
    Location,
    PartialReport,
    Points,
    Property,
    Report,
    Sight,
    Status,
    Verdict,
)
from grader.pages import catalogue
from grader.pages.pictures import curve_view, gradients_view, map_view, stages_view
from grader.pages.wording import View, clean, number, tone
from grader.store.standings import FULL as FULL_MARKS

NAMES = {
    Dimension.SHAPES: "Shapes",
    Dimension.NUMERICS: "Numerics",
    Dimension.MASKING: "Masking",
    Dimension.GRADIENTS: "Gradient flow",
    Dimension.MEMORY: "Memory",
    Dimension.LEARNING: "Learning",
}
DEVICES = {"cpu": "CPU", "cuda": "GPU"}
TITLES = {
    Status.GRADED: "Not accepted yet",
    Status.REJECTED: "Your code could not be run",
    Status.UNGRADABLE: "Your code could not be graded",
    Status.TIMEOUT: "Your code ran out of time",
    Status.MEMORY: "Your code ran out of memory",
    Status.CRASHED: "Your code crashed",
}
_FREE = (Status.REJECTED, Status.UNGRADABLE)
_FIRST = {Verdict.FAILED: 0, Verdict.BROKEN: 1, Verdict.SKIPPED: 2, Verdict.PASSED: 3}
_WORDS = {Verdict.FAILED: "failed", Verdict.BROKEN: "grader error", Verdict.SKIPPED: "skipped"}
_PLACES = ("the first by itself", "the second by itself")  # of two at once: what is said is not of both
_HOLDS = {True: "holds", False: "does not hold", None: "not seen here"}
MANY = 3  # checks that say the same; from here on it is said above them, once
_EMPTY: View = {"empty": True}
_LOOKING: View = {
    "kind": "What went wrong",
    "title": "Looking for the cause",
    "message": "Your points are final. In a moment you see what your results have in common with known mistakes. "
    "While many people submit at once, it takes until all of them have their points.",
}


def report_view(
    report: Report | None, *, number_of_attempt: int = 0, best: float | None = None, solutions: View = None
) -> View:
    """Return the report part of the page; an empty one without a report."""
    if report is None:
        return _EMPTY
    return _whole_view(report, number_of_attempt=number_of_attempt, best=best, solutions=solutions)


def _whole_view(
    report: Report, *, number_of_attempt: int, best: float | None = None, solutions: View = None
) -> dict[str, View]:
    return {
        "empty": False,
        "edited": _about(
            number_of_attempt, "The code in the editor is different; press Run checks to have it checked."
        ),
        "checked": _about(number_of_attempt, "The code in the editor is being checked."),
        **_verdict(report, number_of_attempt, best),
        "bars": [_bar(NAMES[dimension], points) for dimension, points in sorted_points(report)],
        "reason": "" if _stopped(report) else sentence(clean(report.reason)),
        "causes": causes(report),
        "marks": marks(report),
        "stages": stages_view(report.location),
        "solutions": solutions if report.accepted else None,
        "groups": groups(report.checks, folded=bool(causes(report) or report.reason)),
        "properties": [_property(one) for one in report.properties],
        "maps": [map_view(heatmap) for heatmap in report.figures.heatmaps],
        "curves": [curve_view(curve) for curve in report.figures.curves],
        "bars_of_gradients": gradients_view(report.figures.gradients),
        "gradients_note": clean(report.figures.gradients_note, 400),
        "clues": clues(report),
        "advice": [clean(text, 600) for text in report.advice],
        "panels": [panel_of_device(panel) for panel in report.panels],
        "mapping": [[clean(name, 80), clean(place, 120)] for name, place in report.mapping.items()],
        "output": clean(report.output, 20000),
        "facts": clean(_facts(report), 300),
    }


def part_view(part: PartialReport, *, number_of_attempt: int) -> View:
    """Return the report part of the page for a report of which some dimensions are hidden."""
    shown = Report("", part.status, 0.0, 0, "", 0.0, checks=part.checks, reason=part.reason)
    what = ", ".join(NAMES[dimension] for dimension in Dimension if dimension in part.hidden)
    hidden = f"Your class does not show yet: {what}. Score, points, causes and pictures follow from all checks, so they"
    title = "Part of your result" if part.status is Status.GRADED else TITLES[part.status]
    said = {"score": None, "title": title, "free": "", "lines": [f"{hidden} are shown later too."], "facts": ""}
    return {**_whole_view(shown, number_of_attempt=number_of_attempt), **said}


def _about(number_of_attempt: int, editor: str) -> str:
    """Return what to say where the editor holds other code than the report is about, with what becomes of that."""
    what = f"attempt {number_of_attempt}" if number_of_attempt else "code that was not counted"
    return f"This report is about {what}. {editor}"


def _verdict(report: Report, number_of_attempt: int, best: float | None) -> dict[str, View]:
    return {
        "score": number(report.score),
        "share": report.score,
        "tone": tone(report.score, 100.0),
        "title": title(report),
        "free": _free(report),
        "lines": _lines(report, number_of_attempt, best),
    }


def clues(report: Report) -> View:
    """Return where the code reaches for something ready-made, and what that is about; None for nowhere."""
    forbidden = [clue for clue in report.clues if clue.sight in (Sight.TRAPPED, Sight.READ)]
    lines = [sentence(clean(clue.text, 600)) for clue in report.clues]
    title = "A step that this exercise asks you to write" if forbidden else "Seen in your code"
    return {"title": title, "text": WHY if forbidden else "", "lines": lines} if lines else None


def title(report: Report) -> str:
    """Return the verdict in three or four words."""
    if report.accepted:
        return "Accepted"
    if report.incident:
        return "Something broke on our side"
    return TITLES[report.status]


def sorted_points(report: Report) -> list[tuple[Dimension, Points]]:
    """Return the dimensions in their usual order."""
    return [(dimension, report.dimensions[dimension]) for dimension in Dimension if dimension in report.dimensions]


def _free(report: Report) -> str:
    if report.incident:
        return "This costs you nothing: no attempt was used."
    return "No attempt was used." if report.status in _FREE else ""


def _lines(report: Report, attempt: int, best: float | None) -> list[str]:
    lines = []
    if report.incident:
        lines.append(f"If it happens again, tell your instructor this number: {report.incident}")
    elif attempt and report.status not in _FREE:
        lines.append(f"Attempt {attempt} · graded in {report.seconds:.1f} s")
    if best is not None:
        lines.append(f"Your best so far: {number(best)}")
    if report.halved:
        lines.append(HALVED)
    return lines


def _bar(name: str, points: Points) -> View:
    share = 100 * points.earned / points.possible if points.possible else 0.0
    text = f"{number(points.earned)}/{number(points.possible)}"
    return {"name": name, "share": share, "tone": tone(points.earned, points.possible), "points": text}


def causes(report: Report) -> list[View]:
    """Return what to read first: the diagnosis, or else where it begins, or what most failed checks say alike."""
    if report.diagnosis:
        *first, last = report.diagnosis
        if report.location:
            last = replace(last, message=f"{last.message}\n\n{report.location.title}.")
        return [_cause(diagnosis, kind) for diagnosis, kind in zip((*first, last), kinds(report), strict=True)]
    if not report.complete:
        return [*_said_often(report), _LOOKING]
    return [_begins(report, report.location)] if report.location else _said_often(report)


def _stopped(report: Report) -> bool:
    """Whether the place where the code was stopped is known: it stands in one card with the reason."""
    return bool(report.complete and report.reason and report.location and not report.diagnosis)


def _begins(report: Report, location: Location) -> View:
    title, message = clean(location.title, 200), clean(location.message, 4000)
    if _stopped(report):
        reason = sentence(clean(report.reason))
        return {"kind": "What happened", "title": title, "message": f"{reason}.\n\n{message}"}
    return {"kind": "Where it begins", "title": title, "message": message}


def _said_often(report: Report) -> list[View]:
    told = {SAME_AS.format(check.name): check.message for check in report.checks}
    failed = (check.message for check in report.checks if check.status is Verdict.FAILED and check.message)
    said = [told.get(message, message) for message in failed]
    message, times = next(iter(Counter(said).most_common(1)), ("", 0))
    if times < MANY or 2 * times <= len(said):
        return []
    title = f"{times} checks failed for the same reason"
    return [{"kind": "What went wrong", "title": title, "message": sentence(clean(message, 2000))}]


def sentence(text: str) -> str:
    """Return `text` beginning with a capital letter, unless it begins with a name out of code."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def kinds(report: Report) -> list[str]:
    """Return what stands above each entry of a diagnosis."""
    sure = [diagnosis.certain for diagnosis in report.diagnosis]
    if len(sure) == len(_PLACES):
        together = "Two mistakes together" if all(sure) else "Likely two mistakes together"
        return [f"{together}: {place}" for place in _PLACES]
    return ["What went wrong" if certain else "Likely cause" for certain in sure]


def _cause(diagnosis: Diagnosis, kind: str) -> View:
    return {"kind": kind, "title": clean(diagnosis.title, 200), "message": clean(diagnosis.message, 2000)}


def _property(one: Property) -> View:
    """Return a property with its mark: `passed`, `failed`, or `skipped` where it could not be looked at."""
    status = {True: Verdict.PASSED, False: Verdict.FAILED, None: Verdict.SKIPPED}[one.holds]
    return {
        "title": sentence(clean(one.title, 120)),
        "teaches": clean(one.teaches, 600),
        "status": status.value,
        "said": _HOLDS[one.holds],
        "message": sentence(clean(one.message, 600)),
    }


def groups(checks: Sequence[CheckResult], *, folded: bool = False) -> list[View]:
    """Return the checks by dimension: groups with failures first, open unless `folded`, failed checks first in each."""
    order = list(Dimension)
    ranked = sorted(checks, key=lambda check: (order.index(check.dimension), _FIRST[check.status]))
    grouped = [(dimension, list(members)) for dimension, members in groupby(ranked, key=lambda check: check.dimension)]
    grouped.sort(key=lambda group: min(_FIRST[check.status] for check in group[1]))
    return [_group(dimension, members, folded=folded) for dimension, members in grouped]


def _group(dimension: Dimension, checks: list[CheckResult], *, folded: bool) -> View:
    worst = min(checks, key=lambda check: _FIRST[check.status]).status
    passed = sum(check.status is Verdict.PASSED for check in checks)
    badge = "passed" if worst is Verdict.PASSED else f"{sum(c.status is worst for c in checks)} {_WORDS[worst]}"
    return {
        "name": NAMES[dimension],
        "tone": {Verdict.PASSED: "good", Verdict.FAILED: "poor"}.get(worst, "none"),
        "badge": badge,
        "count": f"{passed} of {len(checks)} passed",
        "open": not folded and worst in (Verdict.FAILED, Verdict.BROKEN),
        "checks": _lines_of(checks),
    }


def _lines_of(checks: Sequence[CheckResult]) -> list[View]:
    """Return the checks of a group; those that say the same one after the other share a line."""
    together = groupby(checks, key=lambda check: (check.status, check.message or check.name))
    return [_check(list(same)) for _, same in together]


def _check(same: list[CheckResult]) -> View:
    earned, possible = (sum(points) for points in zip(*((c.earned, c.possible) for c in same), strict=True))
    return {
        "name": clean("\n".join(check.name for check in same), 1200),
        "status": same[0].status.value,
        "message": clean(same[0].message, 1200),
        "points": f"{number(earned)}/{number(possible)}" if possible else "",
    }


def panel_of_device(panel: DevicePanel) -> View:
    """Return one device's panel: how far each output and gradient strays, relative to its scale, and what it may."""
    return {
        "title": DEVICES.get(panel.device, panel.device),
        "dtype": panel.dtype,
        "box": clean(panel.box, 120),
        "within": panel.within,
        "note": sentence(clean(panel.note, 600)),
        "rows": [
            {
                "name": clean(reading.name, 80),
                "error": "none" if reading.error is None else f"{reading.error:.1e}",
                "bound": f"{reading.bound:.1e}",
                "within": reading.within,
                "where": clean(reading.case, 80),
            }
            for reading in panel.readings
        ],
    }


def _facts(report: Report) -> str:
    facts = [f"seed {report.seed}", report.device, report.dtype, report.box]
    return " · ".join(fact for fact in facts if fact)


_LINE = re.compile(r"line (\d+)\b")
_NOT_OF_THE_FILE = re.compile(r"(\w|\bcell \d+, )\Z")  # before it: another word, or a notebook's cell
_BEFORE = 20  # characters, in which that stands
_MOST = 20


def marks(report: Report) -> list[View]:
    """Return the lines to mark, the most important first: each once, with the message that names it."""
    found: dict[int, str] = {}
    for line, message in _named(report):
        found.setdefault(line, message)
    first = list(found.items())[:_MOST]
    return [{"line": line, "message": clean(text, 600), "severity": "error"} for line, text in first]


def _named(report: Report) -> Iterator[tuple[int, str]]:
    if report.location and report.location.line:
        titles = [one.title for one in report.diagnosis] or [report.location.title]
        yield report.location.line, "\n".join(titles)
    failed = (check.message for check in report.checks if check.status is Verdict.FAILED)
    for text in (report.reason, *failed):
        for place in _LINE.finditer(text):
            if not _NOT_OF_THE_FILE.search(text[max(0, place.start() - _BEFORE) : place.start()]):
                yield int(place[1]), text
                break


_REFERENCE = "The reference, in small steps"
_HEADER = ("# verdict:", "# diagnosis:")  # what an example says of itself


def solutions_view(catalog: Catalog, exercise: Exercise, best: Mapping[str, float]) -> View:
    """Return the ways to write an exercise, and the next one; None for whoever has not got full marks on it."""
    if best.get(exercise.id, 0.0) < FULL_MARKS:
        return None
    coming = catalogue.following(catalog, exercise.id, best)
    return {
        "ways": [{"title": title, "code": code} for title, code in _ways(exercise)],
        "next": {"text": catalogue.numbered(catalog, coming.id), "href": catalogue.address(coming.id)}
        if coming
        else None,
    }


def _ways(exercise: Exercise) -> tuple[tuple[str, str], ...]:
    chosen = _chosen(exercise.folder.parent / "ways.toml").get(exercise.id, {})
    ways = [(title, exercise.folder / "examples" / f"{name}.py") for name, title in chosen.items()]
    ways.insert(1, (_REFERENCE, exercise.reference_path))  # behind the first one, which is compact
    return tuple((title, _code(path)) for title, path in ways)


@cache
def _chosen(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the titles of chosen examples, by exercise and by the example's name; none where there is no such file."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@cache
def _code(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(dropwhile(lambda line: line.startswith(_HEADER), lines)).lstrip("\n")
