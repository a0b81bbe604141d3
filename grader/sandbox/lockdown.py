"""All the walls, in the order in which they must go up."""

from __future__ import annotations

import os
from dataclasses import dataclass

from grader.sandbox.walls import descriptors, landlock, namespaces, privileges, rlimits, seccomp, tier


@dataclass(frozen=True, slots=True)
class Walls:
    """What the zygote prepares once, so that a child pays a millisecond and not three.

    Attributes:
        filter: the assembled system call filter.
        ruleset: descriptor of the Landlock ruleset, None where the kernel has none.
        home: descriptor of the zygote's process namespace, None where children cannot have their own.
        rooted: whether the zygote has left all files behind.
        zygote: its process id, as children see it.
        mapped: the memory that every child begins with; later there is no /proc to ask.
    """

    filter: bytes
    ruleset: int | None
    home: int | None
    rooted: bool
    zygote: int
    mapped: rlimits.Mapped

    @property
    def tier(self) -> str:
        """Say how high the walls are, as `grader.sandbox.walls` explains."""
        return tier(landlocked=self.ruleset is not None, apart=self.home is not None and self.rooted)


@dataclass(frozen=True, slots=True)
class Openings:
    """The descriptors that a child is given: the job, the result, what it prints, and the line to the runner."""

    job: int
    result: int
    output: int
    line: int


def prepare(*, namespaced: bool, rooted: bool) -> Walls:
    """Prepare everything that does not depend on one child; done by the zygote, which closes itself up as well.

    Args:
        namespaced: it has namespaces of its own.
        rooted: it may leave all files behind, which is what it does last.
    """
    walls = Walls(
        filter=seccomp.prepare(seccomp.architecture(os.uname().machine)),
        ruleset=landlock.prepare(),
        home=namespaces.own_processes() if namespaced else None,
        rooted=rooted,
        zygote=os.getpid(),
        mapped=rlimits.measure(),
    )
    privileges.empty_bounding_set()
    privileges.become_undumpable()
    if rooted:
        namespaces.leave_files()
    return walls


def put_up(walls: Walls, openings: Openings, *, cpu_seconds: float, memory_bytes: int) -> None:
    """Lock the calling process in; on return it can compute, and write to the descriptors it was given.

    Args:
        memory_bytes: over what the process has mapped already.
    """
    descriptors.keep_only(
        job=openings.job,
        result=openings.result,
        output=openings.output,
        line=openings.line,
        ruleset=walls.ruleset,
    )
    privileges.yield_the_processor()
    rlimits.set_limits(cpu_seconds=cpu_seconds, mapped=walls.mapped, memory_bytes=memory_bytes)
    rlimits.refuse_huge_pages()
    privileges.become_nobody()
    privileges.drop_capabilities()
    privileges.die_with(walls.zygote)
    privileges.forbid_new_privileges()
    privileges.become_undumpable()
    if walls.ruleset is not None:
        landlock.restrict(descriptors.RULESET)
        os.close(descriptors.RULESET)
    seccomp.load(walls.filter)
