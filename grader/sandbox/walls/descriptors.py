"""Which open files the child keeps: its own four, at fixed numbers, and nothing that the parent had open."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping

JOB, RESULT, LINE, RULESET = 3, 4, 5, 6
ALL = 1 << 20


def keep_only(*, job: int, result: int, output: int, line: int, ruleset: int | None) -> None:
    """Move the child's descriptors to their fixed numbers and close all others.

    Stops the use of an inherited descriptor: the zygote's control socket, another run's pipe, a shared file offset.
    Standard input stays what the zygote has: the empty device.
    """
    places = {1: output, 2: output, JOB: job, RESULT: result, LINE: line}
    if ruleset is not None:
        places[RULESET] = ruleset
    move(places)
    os.closerange(max(places) + 1, ALL)


def move(places: Mapping[int, int]) -> None:
    """Make each descriptor, given by the number that it is to have, reachable at that number; the old ones stay open.

    All are copied to unused numbers first: a descriptor may lie at a number that another one is to have.
    """
    first_unused = max(places) + 1
    copies = {place: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, first_unused) for place, source in places.items()}
    for place, copy in copies.items():
        os.dup2(copy, place, inheritable=False)
