"""How a command that is still starting ends at a signal: at once, with one word, and with nothing left running.

The handlers raise no exception, unlike Python's own: while torch is imported it may swallow one, or abort.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_USUAL: dict[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
_ENDS: list[Callable[[], None]] = []


def stop_at_once() -> None:
    """From now on, end this process at the first SIGINT or SIGTERM; one that is ignored, as behind `&`, stays so."""
    for known in _USUAL:
        if signal.getsignal(known) is not signal.SIG_IGN:
            signal.signal(known, _stop)


def stop_as_usual() -> None:
    """From now on, leave signals to Python again: Ctrl+C raises `KeyboardInterrupt`."""
    for known, usual in _USUAL.items():
        if signal.getsignal(known) is _stop:
            signal.signal(known, usual)


def end_first(end: Callable[[], None]) -> None:
    """Have `end` called before this process ends at a signal; it may come at any line, so `end` waits for nothing."""
    _ENDS.append(end)


@contextmanager
def ending_first(end: Callable[[], None]) -> Iterator[None]:
    """Do so for the length of a block."""
    end_first(end)
    try:
        yield
    finally:
        _ENDS.remove(end)


def _stop(number: int, _frame: FrameType | None) -> None:
    for end in list(_ENDS):
        with suppress(Exception):
            end()
    with suppress(OSError, ValueError):  # nobody reads any more
        if select.select([], [2], [], 0)[1]:  # a pipe that is full must not block the stop
            os.write(2, b"stopped\n")
    os._exit(128 + number)
