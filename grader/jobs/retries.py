"""How often a job is tried, and how long one try may take while others wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retries:
    """What happens after a fault of ours, and to a try that takes long.

    Attributes:
        pauses: seconds to wait before each further try; after the last one the submission is broken.
        tries: how often a job may be taken in all; more, and it is what kills its workers.
        kills: how often what runs a job may be killed, its sandbox, its grading process or the whole service, before it
            is told as out of memory.
        rests: seconds that a worker pauses after its first, second, … failure in a row to reach the database; the
            last for all that follow.
        quick_seconds: what a first try has before others go first, as long as nothing is known of its exercise.
    """

    pauses: tuple[float, ...] = (1.0, 5.0)
    tries: int = 12
    kills: int = 1
    rests: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 15.0)
    quick_seconds: float = 1.0
