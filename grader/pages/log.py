"""The log of a server that strangers talk to: its lines are bounded in size and in number, and hold no controls.

Whatever is logged at a request can be asked for a thousand times. What is left out is counted, and the count is logged.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from grader.service.limits import Buckets

LONGEST = 4000  # characters of an entry, with its trace
HEAD = 1000  # of these from the beginning, the others from the end, where a trace says what went wrong
BURST = 64 << 10  # characters at once
SECONDS_EACH = 1 / 512  # for one more, which is 44 MB a day
CONTROL = re.compile(
    "[^\n\t -~\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd\U00020000-\U000dffff\U000e0100-\U000e01ef]"
    # Unicode's formats: they turn a line around, or hide a part of it.
    "|[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]"
    "|[\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)


class Short(logging.Formatter):
    """Entries of bounded size: a stranger's text cannot begin a line of its own, or send codes to a terminal."""

    def __init__(self) -> None:
        """Write when, how bad, what."""
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        """Return the first line."""
        return super().formatMessage(record).rstrip().replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        """Return the whole entry; each line but the first is indented."""
        entry = CONTROL.sub(lambda found: ascii(found[0])[1:-1], super().format(record)).replace("\n", "\n  ")
        return entry if len(entry) <= LONGEST else f"{entry[:HEAD]} [...] {entry[HEAD - LONGEST :]}"


class Sparing(logging.StreamHandler[TextIO]):
    """Writes entries as long as there are not too many, and then how many were left out."""

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Write to `stream`, the error stream if left out."""
        super().__init__(stream or sys.stderr)
        self.setFormatter(Short())
        self._budget = Buckets(BURST, SECONDS_EACH, clock=clock)
        self._left_out: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry, or count it."""
        try:
            entry = self.format(record)
            # The server logs each request that is none: these must not use up what our own incidents need.
            whose = record.name.partition(".")[0]
            if self._budget.take(whose, len(entry)) > 0:
                self._left_out[whose] += 1
                return
            left_out = self._left_out.pop(whose, 0)
            missing = f"({left_out} entries were left out here, as there were too many)\n"
            self.stream.write(f"{missing if left_out else ''}{entry}\n")
            self.flush()
        except Exception:  # noqa: BLE001 - as every handler of logging: what cannot be logged stops nobody
            self.handleError(record)


def set_up_log() -> None:
    """Let everything that is logged in this process go through one handler that is bounded."""
    logging.basicConfig(handlers=[Sparing()], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
