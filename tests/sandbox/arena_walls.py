"""A zygote with some of its walls missing: `main(WALLS, DESCRIPTOR)` in the place of `grader.sandbox.zygote.main`.

The product has no switch for this. What puts a wall up is replaced here, in a process that was started for the stage.
"""

from __future__ import annotations

import os
from typing import NoReturn

from grader.sandbox import zygote
from grader.sandbox.walls import descriptors, kernel, landlock, namespaces, privileges, rlimits, seccomp
from tests.sandbox import arena

# Each wall with the functions that put it up. Whatever is not listed is no wall, and stays as it is.
WALLS = {
    "system call filter": ((seccomp, "load"),),
    "Landlock": ((landlock, "restrict"),),
    "namespaces": ((namespaces, "enter"), (namespaces, "can_leave_files"), (privileges, "drop_capabilities")),
    "limits": ((rlimits, "set_limits"), (rlimits, "refuse_huge_pages")),
    "other user": (
        *((privileges, "become_nobody"), (privileges, "drop_capabilities"), (privileges, "become_undumpable")),
        (privileges, "empty_bounding_set"),
    ),
    "clean start": ((descriptors, "keep_only"),),
}
_DUMPABLE = 4


def main(standing: list[str], control: int, group: int) -> NoReturn:
    """Serve as the zygote does, with no walls but the `standing` ones."""
    if "clean start" not in standing:
        os.open(arena.DATABASE, os.O_RDONLY)  # what a careless service would pass on
    if os.geteuid() == 0 and "other user" not in standing:
        user = arena.ordinary()
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        kernel.prctl(_DUMPABLE, 1)  # which the change of user took
    kept = {place for wall in standing for place in WALLS[wall]}
    for module, name in {place for places in WALLS.values() for place in places} - kept:
        assert hasattr(module, name), f"{module.__name__} has no {name} any more; see what puts up this wall now"
        setattr(module, name, _keep_all if name == "keep_only" else _nothing)
    zygote.main(control, group)


def _nothing(*_arguments: object, **_options: object) -> None:
    """Stand in the place of a wall; for those that say whether they stand, they do not."""


def _keep_all(*, job: int, result: int, output: int, line: int, ruleset: int | None) -> None:
    """Put a child's descriptors where it looks for them, and close nothing."""
    places = {1: output, 2: output, descriptors.JOB: job, descriptors.RESULT: result, descriptors.LINE: line}
    if ruleset is not None:
        places[descriptors.RULESET] = ruleset
    spare = {place: os.dup2(descriptor, 200 + place) for place, descriptor in places.items()}
    for place, descriptor in spare.items():
        os.dup2(descriptor, place)
