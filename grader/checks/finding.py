"""What a check says about one case, and how text is cut; without torch, which most commands never import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What became of one check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"  # because something it builds on failed
    BROKEN = "broken"  # our fault


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict and, unless it passed, the reason in words to the student.

    Attributes:
        incident: of a check that broke, the id under which the log has the fault.
        granted: the check broke whatever it was given, so its points are the student's.
        alone: nothing that builds on the check is concerned.
        besides: it failed, and not because of what it is there to show.
        contradiction: of two figures that the box told, or one that it told and one found outside; worth a look.
    """

    verdict: Verdict
    message: str = ""
    incident: str = ""
    granted: bool = False
    alone: bool = False
    besides: bool = False
    contradiction: str = ""


PASSED = Finding(Verdict.PASSED)


def failed(message: str, *, alone: bool = False, besides: bool = False) -> Finding:
    """Return a failure with its reason; `alone` and `besides` are those of `Finding`."""
    return Finding(Verdict.FAILED, message, alone=alone, besides=besides)


def skipped(message: str) -> Finding:
    """Return a skipped check with its reason, a clause that starts with `because`."""
    return Finding(Verdict.SKIPPED, message)


def cut(text: str, limit: int) -> str:
    """Return `text`; of a longer one what ends within `limit` characters: its sentences, or else its words, and `…`.

    Of code in backticks nothing is left that does not end.
    """
    if len(text) <= limit:
        return text
    ends = [text.rfind(mark + blank, limit // 2, limit + 1) + 1 for mark in ".!?" for blank in " \n"]
    words = max(text.rfind(blank, limit // 2, limit + 1) for blank in " \n")
    kept = text[: max(ends) or (words if words > 0 else limit)]
    if kept.count("`") % 2:
        kept = kept[: kept.rindex("`")]
    gap = "" if text[len(kept)].strip() and not kept.endswith((" ", "\n")) else " "
    return f"{kept.rstrip()}{gap}…"
