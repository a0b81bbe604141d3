"""A report as JSON; no verdict is lost because a part of its report cannot be written."""

from __future__ import annotations

import logging
from dataclasses import replace

from grader.errors import record
from grader.judge.report import Report

LOG = logging.getLogger(__name__)


def written(report: Report) -> tuple[Report, str]:
    """Return a report with its JSON; where it cannot be written whole, without all that no point depends on."""
    try:
        return report, report.to_json()
    except Exception as fault:  # noqa: BLE001 - whatever a writer of JSON trips over is no reason to lose a verdict
        incident = record(LOG, f"a report on {report.exercise} could not be written as JSON", fault)
    note = f"part of this report is missing because of an error in the grader ({incident})"
    bare = replace(report.bare(), advice=(note,))
    return bare, bare.to_json()
