"""A service in a place with little memory, and one memory attack after the other: `python -m benchmarks memory`.

The service grades as `attention-gym serve` does, without the pages in front. It lives in a control group with a
limit, as in a container. Each attack is handed in together with a right answer, by another student each time.
"""

from __future__ import annotations

from collections import Counter

import typer

from tests.sandbox.limited import NotHere, grade_attacks


def memory(attacks: int = 50, mib: int = 2400, slots: int = 1, ordinary: bool = False) -> None:
    """Print what became of the attacks, of the honest submissions between them, and of the service."""
    try:
        outcome = grade_attacks(attacks, memory=mib << 20, slots=slots, ordinary=ordinary)
    except NotHere as reason:
        raise typer.BadParameter(str(reason)) from reason
    hostile, honest = (
        Counter(f"{status} {score:g}" for status, score in side) for side in zip(*outcome.told, strict=True)
    )
    who = "an ordinary user, without a group of its own" if ordinary else "root, with a group of its own"
    typer.echo(f"{attacks} attacks in {mib} MiB, {slots} slots, {who}; {outcome.seconds:.0f} s")
    typer.echo(f"attacks: {dict(hostile)}\nhonest submissions: {dict(honest)}")
    ended = "ended by itself" if outcome.exit == 0 else f"DIED, exit code {outcome.exit}"
    typer.echo(
        f"the service {ended}; most memory of all together: {outcome.most >> 20} MiB; groups left: {outcome.left}"
    )
    if outcome.exit or honest != {"graded 100": attacks}:
        raise typer.Exit(1)
