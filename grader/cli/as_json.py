"""A report for programs: one JSON object on one line, whose keys stay as they are."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from grader.judge.report import Diagnosis, Location, Report


def tell(path: Path, title: str, report: Report) -> None:
    """Write the report on the file at `path` to standard output."""
    sys.stdout.write(to_line(path, report) + "\n")
    sys.stdout.flush()


def to_line(path: Path, report: Report) -> str:
    """Return the report as one line of plain ASCII, which no terminal and no line splitter can spoil."""
    said = {
        "file": str(path),
        "exercise": report.exercise,
        "status": report.status,
        "score": report.score,
        "reason": report.reason,
        "dimensions": {dimension: asdict(points) for dimension, points in report.dimensions.items()},
        "checks": [asdict(check) for check in report.checks],
        "diagnosis": [_diagnosis(likely) for likely in report.diagnosis],
        "location": _location(report.location) if report.location else None,
        "advice": report.advice,
        "clues": [asdict(clue) for clue in report.clues],
        "panels": [{**asdict(panel), "within": panel.within} for panel in report.panels],
        "mapping": dict(report.mapping),
        "output": report.output,
        "seed": report.seed,
        "device": report.device,
        "dtype": report.dtype,
        "box": report.box,
        "seconds": report.seconds,
    }
    return json.dumps(said, allow_nan=False)


def _diagnosis(likely: Diagnosis) -> dict[str, object]:
    text = f"{likely.title}\n\n{likely.message}".strip()
    return {"mistake": likely.mistake, "message": text, "certain": likely.certain}


def _location(found: Location) -> dict[str, object]:
    """Return a location in words; its stages are a picture, as heat maps are."""
    return {"step": found.step, "title": found.title, "message": found.message, "line": found.line}
