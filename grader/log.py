"""The log of a server that strangers talk to: its lines are bounded in size and in number, and hold no controls.

Whatever is logged at a request can be asked for a thousand times. What is left out is counted, and the count is logged.
An entry names the submission that it is about, in the pages' process and in the grading processes alike.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from datetime import UTC, datetime
from typing import Literal, TextIO

from grader.errors import SUBMISSION
from grader.service.limits import Buckets

Form = Literal["text", "json"]
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
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        """Return the first line."""
        about = f" [submission {SUBMISSION.get()}]" if SUBMISSION.get() else ""
        return f"{super().formatMessage(record).rstrip()}{about}".replace("\n", "\\n")

    def format(self, record: logging.LogRecord) -> str:
        """Return the whole entry; each line but the first is indented."""
        return _cut(CONTROL.sub(lambda found: ascii(found[0])[1:-1], super().format(record)).replace("\n", "\n  "))


class JsonLines(logging.Formatter):
    """Entries that are a line of JSON each, in ASCII: these fields and no others, whatever else a record carries."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry; a field that has nothing to say is left out."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "submission": SUBMISSION.get(),
            "incident": getattr(record, "incident", ""),
            "message": _cut(record.getMessage()),
            "trace": _cut(self.formatException(record.exc_info)) if record.exc_info else "",
        }
        line = json.dumps({name: value for name, value in fields.items() if value})
        return line.replace("\x7f", "\\u007f")  # the one control that JSON leaves as it is


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:HEAD]} [...] {text[HEAD - LONGEST :]}"


class Sparing(logging.StreamHandler[TextIO]):
    """Writes entries as long as there are not too many, and then how many were left out."""

    def __init__(
        self, stream: TextIO | None = None, *, form: Form = "text", clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Write to `stream`, the error stream if left out, in lines for people or of JSON."""
        super().__init__(stream or sys.stderr)
        self.setFormatter(JsonLines() if form == "json" else Short())
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
            if left_out := self._left_out.pop(whose, 0):
                self.stream.write(f"{self._missing(whose, left_out)}\n")
            self.stream.write(f"{entry}\n")
            self.flush()
        except Exception:  # noqa: BLE001 - as every handler of logging: what cannot be logged stops nobody
            self.handleError(record)

    def _missing(self, whose: str, number: int) -> str:
        said = "%d entries were left out here, as there were too many"
        note = logging.LogRecord(whose, logging.WARNING, "", 0, said, (number,), None)
        return Context().run(self.format, note)  # they were about other submissions


def set_up_log(form: Form) -> None:
    """Let everything that is logged in this process go through one handler that is bounded."""
    logging.basicConfig(handlers=[Sparing(form=form)], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
