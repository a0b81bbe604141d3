"""Counts results as they come to be in the database, whoever stored them; nothing is counted twice or left out.

Each look reads what is new by the primary key. On Postgres a result may become visible after a later one, so the last
minute is looked at again each time. Not covered: a transaction that takes longer than that, and on SQLite the results
of ids that are given once more after the newest ones were deleted, between that and the next look.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from grader.store.records import Reason, State
from grader.store.tables import GradingRow, SubmissionRow

BUCKETS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)  # seconds, each the end of one
AGAIN_SECONDS = 60.0
_AT_ONCE = 1000  # rows


@dataclass(slots=True)
class Tally:
    """What has come of submissions since the first look.

    Attributes:
        clock: gives seconds, from whatever beginning.
        verdicts: results by their status; `broken` for those that ended in a fault of ours.
        repeated: tries that had come to no verdict before: faults of ours, kills, and those that let others go first.
        waits: for each bucket, and one beyond, how many waited so long from the hand-in to the verdict.
        waited: seconds that all of these waited together.
    """

    clock: Callable[[], float] = time.monotonic
    verdicts: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    waits: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    waited: float = 0.0
    _floor: int | None = None
    _seen: dict[tuple[int, str], float] = field(default_factory=dict)

    def look(self, session: Session) -> None:
        """Count what was stored since the last time; the first time, only note where to begin."""
        grading, submission = GradingRow, SubmissionRow
        newest = session.scalar(select(func.max(grading.id))) or 0
        if self._floor is None:
            self._floor = newest
            return
        self._floor = min(self._floor, newest)
        query = (
            select(
                grading.id, grading.submission_id, grading.status, grading.incident, grading.reason,
                grading.try_number, submission.created, submission.finished,
            )
            .join(submission, submission.id == grading.submission_id)
            .where(grading.id > self._floor)
        )  # fmt: skip
        now = self.clock()
        for row in session.execute(query.execution_options(yield_per=_AT_ONCE)):
            if (row.id, row.submission_id) not in self._seen:
                self._seen[row.id, row.submission_id] = now
                self._count(row)
        self._forget(now - AGAIN_SECONDS)

    def _count(self, row: Row[int, str, str, str, str, int, float, float | None]) -> None:
        self.verdicts[State.BROKEN.value if row.incident else row.status] += 1
        if row.reason != Reason.HAND_IN.value or row.finished is None:
            return
        self.repeated += row.try_number - 1
        seconds = max(0.0, row.finished - row.created)
        self.waits[bisect_left(BUCKETS, seconds)] += 1
        self.waited += seconds

    def _forget(self, before: float) -> None:
        """Look no more at what was seen so early."""
        old = [key for key, seen in self._seen.items() if seen <= before]
        self._floor = max([self._floor or 0, *(id for id, _ in old)])
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] > self._floor}
