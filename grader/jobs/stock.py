"""Sheets with their truths, prepared while nobody waits and kept beside the database.

A deadline's submissions then need no drawing, and no run of the reference. Each entry serves one grading, in whichever
process, and its seed is recorded with the result; who grades that submission once more draws the same numbers from it.
Nothing depends on the stock: where it is empty, lost or damaged, a submission is graded with the seed of its own.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.versions import grader_version
from grader.jobs.single_use import SingleUseFiles, clean
from grader.judge.grade import prepare
from grader.judge.prepared import Outline, Prepared

LOG = logging.getLogger(__name__)
LEAST = 8  # entries of each exercise
MOST = 512
FREE_BYTES = 512 << 20  # of the disk, that are left to others
_SEED_BYTES = 8
_SEED_BITS = 48
_REMEMBERED = 1000  # askings; then each counts half


@dataclass(frozen=True, slots=True)
class _ExerciseStock:
    """One exercise in the stock."""

    exercise: Exercise
    outline: Outline
    files: SingleUseFiles


class Stock:
    """The stock of one installation, as one process sees it.

    Args:
        folder: where the entries are; other processes use the same one.
        catalog: the exercises.
        budget: the most bytes that all entries may take; 0 for no stock.
        least: the entries of an exercise that nobody asked for.
    """

    def __init__(self, folder: Path, catalog: Catalog, budget: int, *, least: int = LEAST) -> None:
        self._folder = folder
        self._catalog = catalog
        self._budget = budget
        self._least = least
        self._exercises: dict[str, _ExerciseStock] = {}
        self._without: set[str] = set()  # exercises for which nothing can be prepared
        self._asked: Counter[str] = Counter()
        self._noting, self._filling = threading.Lock(), threading.Lock()

    def take(self, exercise: Exercise) -> Prepared | None:
        """Return what nobody else got or will get, None where nothing is ready."""
        self._note(exercise.id)
        one = self._exercises.get(exercise.id)
        body = one.files.take(_SEED_BYTES + one.outline.size) if one else None
        if one is None or body is None:
            return None
        seed = int.from_bytes(body[:_SEED_BYTES], "little")
        del body[:_SEED_BYTES]  # without a copy of all the rest
        return one.outline.filled(seed, body)

    def fill(self, go_on: Callable[[], bool]) -> bool:
        """Do one piece of work, some hundred milliseconds at most where `go_on` says no; return whether there is more.

        Raises:
            OSError: the disk takes no entry.
        """
        if not self._budget or not self._filling.acquire(blocking=False):
            return False
        try:
            return self._outlined() or self._filled(go_on)
        finally:
            self._filling.release()

    def _outlined(self) -> bool:
        """Find one more outline; return whether there was one to find."""
        missing = next((id for id in self._catalog if id not in self._exercises and id not in self._without), None)
        if missing is None:
            return False
        try:
            self._exercises[missing] = _exercise_stock(self._folder, self._catalog[missing])
        except Exception as fault:  # noqa: BLE001 - whatever an exercise does, the others are prepared
            self._give_up(missing, fault)
        if len(self._exercises) + len(self._without) == len(self._catalog):
            clean(self._folder, frozenset(one.files.folder.name for one in self._exercises.values()))
        return True

    def _filled(self, go_on: Callable[[], bool]) -> bool:
        """Add one entry; return whether there was need and room for it."""
        counts = {id: len(one.files) for id, one in self._exercises.items()}
        wanted = self._most_wanted(counts)
        if wanted is None:
            return False
        one = self._exercises[wanted]
        try:
            # The mistakes take longer than the truth, so that everybody's truth comes first.
            prepared = prepare(one.exercise, _new_seed(), go_on if all(counts.values()) else lambda: False)
            numbers = one.outline.numbers(prepared)
        except Exception as fault:  # noqa: BLE001 - as above
            self._give_up(wanted, fault)
        else:
            one.files.put(prepared.seed.to_bytes(_SEED_BYTES, "little") + numbers)
        return True

    def _most_wanted(self, counts: dict[str, int]) -> str | None:
        """Return the exercise that lacks most; None where all have enough, or there is no room."""
        goals = {id: min(MOST, self._least + self._asked[id]) for id in counts}
        wanted = min(counts, key=lambda id: counts[id] / goals[id], default=None)
        if wanted is None or counts[wanted] >= goals[wanted]:
            return None
        taken = sum(count * self._exercises[id].outline.size for id, count in counts.items())
        more = self._exercises[wanted].outline.size
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free
        return wanted if taken + more <= self._budget and free - more >= FREE_BYTES else None

    def _note(self, id: str) -> None:
        """Note that an exercise was asked for; what was asked for long ago counts less and less."""
        with self._noting:
            self._asked[id] += 1
            if self._asked.total() > _REMEMBERED:
                self._asked = Counter({known: count // 2 for known, count in self._asked.items()})

    def _give_up(self, id: str, fault: Exception) -> None:
        LOG.warning("nothing is prepared for %s any more: %r", id, fault)
        self._without.add(id)
        self._exercises.pop(id, None)


def _exercise_stock(folder: Path, exercise: Exercise) -> _ExerciseStock:
    """Return the stock of an exercise, whose entries are for these very versions.

    Raises:
        AuthorError: the exercise is wrong.
    """
    outline = Outline(prepare(exercise, _new_seed()))
    versions = f"{exercise.version} {grader_version()} {torch.__version__} {outline.digest}"
    name = f"{exercise.id}-{hashlib.sha256(versions.encode()).hexdigest()[:16]}"
    return _ExerciseStock(exercise, outline, SingleUseFiles(folder / name))


def _new_seed() -> int:
    return secrets.randbits(_SEED_BITS)
