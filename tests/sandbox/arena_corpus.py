"""The attacks of `tests/hostile/`, read: what each wants, what it must come to, and which walls stop it."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path

from grader.box.run import Limits
from tests.sandbox.errand import LIMITS, SHORT

FOLDER = Path(__file__).resolve().parents[1] / "hostile"
AREAS = ("files", "network", "processes", "kernel", "resources", "forging", "leaks")
# The walls that the stage can leave standing alone; the names of `STOPPERS` up to there.
WALLS = ("system call filter", "Landlock", "namespaces", "limits", "other user", "clean start")
_MARKS = re.compile(r"^(Expected|Stopped by|Without walls|Needs|Own): (.+)$", re.MULTILINE)

# What may stop an attack: the walls of the sandbox, then what is around them.
STOPPERS = {
    "system call filter": "only computing is allowed, by a list that the kernel checks at every call",
    "Landlock": "no file, no TCP, no abstract socket, no signal to others",
    "namespaces": "own processes, an empty network, an empty root, own queues and host name",
    "limits": "processor time, memory, processes, file size, descriptors, all hard",
    "other user": "nobody, without any capability, who cannot be looked into",
    "clean start": "an empty environment, no inherited descriptor, nothing of ours to import, no secret in memory",
    "own fork": "a process of its own for every run, which dies with it",
    "held names": "copies of what our code looks up in libraries and in Python, made before a submission is loaded",
    "protocol": "the parent reads every byte as an enemy's: it knows each size, shape and name beforehand",
    "judged elsewhere": "numbers are compared in another process, which the code cannot reach",
    "clock": "the runner's clock and counters, and its kill",
    "catch-all": "the box takes whatever is raised for an observation",
    "the kernel": "refused or harmless to an ordinary process anywhere; nothing of ours is needed",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """One file of the corpus.

    Attributes:
        name: the file's name without its ending.
        area: the folder it lies in.
        strategy: its docstring without the marks.
        expected: the verdicts that it may end with in the box.
        stoppers: what stops it, names of `STOPPERS`; of the walls, all those that do so alone.
        powerless: a kernel refuses it to an ordinary user anyway, walls or not.
        needs: the processor whose machine code or call numbers it is written in; empty for any.
        own: not from the literature, thought up here.
        source: the text that is handed in.
    """

    name: str
    area: str
    strategy: str
    expected: tuple[str, ...]
    stoppers: tuple[str, ...]
    powerless: bool
    needs: str
    own: bool
    source: str

    @property
    def is_probe(self) -> bool:
        """Whether it is a small, harmless attempt that says whether it got through."""
        return '"through: ' in self.source

    @property
    def succeeds_without_walls(self) -> bool:
        """Whether it is a probe that gets through where nothing stands."""
        return self.is_probe and not self.powerless

    @property
    def is_slow(self) -> bool:
        """Whether it ends by a clock."""
        return "timeout" in self.expected

    @property
    def limits(self) -> Limits:
        """What it may use: little time where a clock must end it."""
        return SHORT if self.is_slow else LIMITS

    @property
    def runs_here(self) -> bool:
        """Whether this machine has the processor that it is written for."""
        return self.needs in ("", platform.machine())


def read(path: Path) -> Attack:
    """Read one file."""
    source = path.read_text(encoding="utf-8")
    said = source.split('"""')[1]
    marks = dict(_MARKS.findall(said))
    return Attack(
        name=path.stem,
        area=path.parent.name,
        strategy=_MARKS.sub("", said).strip(),
        expected=tuple(marks.get("Expected", "").split(" or ")),
        stoppers=tuple(marks.get("Stopped by", "").split(", ")),
        powerless=marks.get("Without walls", "") == "refused",
        needs=marks.get("Needs", ""),
        own=marks.get("Own", "") == "yes",
        source=source,
    )


def corpus() -> list[Attack]:
    """Return every attack on the box, in the order of the areas."""
    return [read(path) for area in AREAS for path in sorted((FOLDER / area).glob("*.py"))]
