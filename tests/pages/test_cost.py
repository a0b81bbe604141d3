"""No page costs more than in proportion to what is stored, and one person's requests leave room for others'."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

from sqlalchemy import event

from benchmarks.pages import Asked, Stored

SHARES = (0.25, 0.5)  # of the most that can be stored
SHAPES = ("equal lines", "every other line", "short lines")
STEPS = 50  # of SQLite, which count as one call
SLACK = 400  # calls, that differ from one request to the next like it
FRAMEWORKS = ("site-packages", "asyncio", "concurrent", "threading", "queue.py")
Cost = tuple[Asked, int, int]  # with the status


class Counted:
    """Counts the calls of functions, in whatever thread, and the steps of the database."""

    def __init__(self) -> None:
        self.calls = 0
        self._counts: dict[CodeType, bool] = {}

    def note(self, frame: FrameType, kind: str, _arg: object) -> None:
        """Count an event of the interpreter, but for what frameworks do for each request."""
        code = frame.f_code
        counts = self._counts.get(code)
        if counts is None:
            counts = self._counts[code] = not any(name in code.co_filename for name in FRAMEWORKS)
        if counts and kind in ("call", "c_call"):
            self.calls += 1

    def step(self) -> int:
        """Count some steps of the database; it goes on."""
        self.calls += 1
        return 0


async def costs(folder: Path, share: float, counted: Counted) -> list[Cost]:
    """Return what each request costs with a share of the most that can be stored."""
    stored, found = Stored(folder, share, SHAPES), []
    engine = stored.database.engine
    engine.dispose()
    stored.service.condition._due = math.inf  # the look through the whole file, once an hour, belongs to no request
    event.listen(engine, "connect", lambda connection, _: connection.set_progress_handler(counted.step, STEPS))
    async with stored.client() as client:
        for asked in stored.asked():
            before = counted.calls
            sys.setprofile(counted.note)
            status = await stored.send(client, asked)
            sys.setprofile(None)
            found.append((asked, status, counted.calls - before))
    return found


def test_no_page_costs_more_than_in_proportion_to_what_is_stored(tmp_path: Path) -> None:
    """Every route and method, with sources, reports, a history and a class: twice as much costs at most twice."""
    counted = Counted()
    threading.setprofile(counted.note)  # for the threads that serve
    try:
        sizes = []
        for share in SHARES:
            folder = tmp_path / str(share)
            folder.mkdir()
            sizes.append(asyncio.run(costs(folder, share, counted)))
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
    worst = [
        (asked.route, asked.about, asked.url, small, large)
        for (asked, _, small), (_, _, large) in zip(*sizes, strict=True)
        if large > 2 * small + SLACK
    ]
    # Nothing is graded here, so it is not ready.
    answered = {asked.route for asked, status, _ in sizes[0] if status < 500 or asked.route == "/ready"}

    assert worst == []
    assert answered == {asked.route for asked, _, _ in sizes[0]}
