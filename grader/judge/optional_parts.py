"""The parts of a report besides its verdict: a fault of ours there costs the part, never the verdict."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from grader.errors import Stopped, record

LOG = logging.getLogger(__name__)
Part = TypeVar("Part")
FAULT = "because of an error in the grader"  # these words are in every remark on what is missing


class OptionalParts:
    """Makes the optional parts of one report; `missing` says, in words to the student, what could not be made."""

    def __init__(self) -> None:
        self.missing: list[str] = []

    def make(self, what: str, make: Callable[[], Part], otherwise: Part) -> Part:
        """Return what `make` returns; `otherwise`, and the fault in the log, where it raises.

        Raises:
            Stopped: nobody waits for the report any more.

        Args:
            what: what is missing then, as the beginning of a sentence: `the pictures are`.
            make: gives the part.
            otherwise: what the report holds without it.
        """
        try:
            return make()
        except Stopped:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, the verdict stands without
            incident = record(LOG, f"{what} missing from a report", fault)
        self.missing.append(f"{what} missing here, {FAULT} ({incident}); this does not affect your points")
        return otherwise
