"""Which open files the child keeps: its own four, at fixed numbers, and nothing that the parent had open."""

from __future__ import annotations

import os

JOB, RESULT, LINE, RULESET = 3, 4, 5, 6
_SPARE = 64  # above every number handed out below, so that moving one never overwrites another
_ALL = 1 << 20


def keep_only(*, job: int, result: int, output: int, line: int, ruleset: int | None) -> None:
    """Move the child's descriptors to their fixed numbers and close all others.

    Stops the use of an inherited descriptor: the zygote's control socket, another run's pipe, a shared file offset.
    Standard input stays what the zygote has: the empty device.
    """
    places = {1: output, 2: output, JOB: job, RESULT: result, LINE: line}
    if ruleset is not None:
        places[RULESET] = ruleset
    for place, descriptor in places.items():
        os.dup2(descriptor, _SPARE + place, inheritable=False)
    for place in places:
        os.dup2(_SPARE + place, place, inheritable=False)
    os.closerange(max(places) + 1, _ALL)
