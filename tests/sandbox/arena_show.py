"""Runs the corpus on the stage in one mode and prints what came of it as JSON; started by `arena`.

A mode is a place and a set of walls: `nothing`, `alone WALL`, or `tier A|B|B-docker`, and who serves.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.errors import GraderFault
from grader.exercise.catalog import ROOT
from grader.sandbox import handles
from grader.sandbox.runner import Sandbox
from grader.sandbox.walls import privileges, seccomp
from tests.sandbox import arena, docker
from tests.sandbox.arena_corpus import Attack, corpus
from tests.sandbox.contained import filter_of
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict
from tests.sandbox.warm_start import WarmStart

_ENTRY = (
    "import sys; sys.path.insert(0, {root!r}); from tests.sandbox.arena_walls import main; main({walls!r}, {arguments})"
)
_FOLDING_SECONDS = 1.0  # in which an idle zygote folds itself into huge pages; hundreds of runs after it are cheaper
_DEADLY = "signal_by_owned_pipe"  # it takes the zygote along where it gets through, so it comes last
_CLEAN = handles.environment
_SECRET = {"GRADER_SECRET": "the seed of all seeds"}


def main() -> None:
    """Show the corpus in the modes that are asked for."""
    modes = json.loads(sys.argv[1])
    print(json.dumps([_bare(mode["walls"]) if mode["walls"] is not None else _apart(mode) for mode in modes]))


def _apart(mode: dict[str, Any]) -> dict[str, object]:
    """Run the corpus in the product in a process of its own: there is no way back from the place that a mode names."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            with open(writing, "w", encoding="utf-8") as out:
                json.dump(_tier(mode), out)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - nothing may get back into the parent's code
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with open(reading, encoding="utf-8") as told:
        text = told.read()
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(code)
    story: dict[str, object] = json.loads(text)
    return story


def _bare(walls: list[str]) -> dict[str, object]:
    """Run the probes in a zygote with these walls only, on a stage as it was in the beginning."""
    arena.lay_out_files()
    _replace_the_zygote(walls)
    attacks = sorted((a for a in corpus() if a.runs_here and a.is_probe), key=lambda attack: attack.name == _DEADLY)
    with _OneLife() as sandbox:
        show = _Show(sandbox, honest_every=0)
        for attack in attacks:
            show.run(attack)
        return {"box": sandbox.name, "user": os.geteuid(), **show.story()}


def _tier(mode: dict[str, Any]) -> dict[str, object]:
    """Run the corpus in the product as it is, in the place that the mode names."""
    before = arena.state()
    _move_to(mode["place"], as_root=mode["root"])
    with Sandbox() as sandbox:
        show = _Show(sandbox, honest_every=mode["honest_every"])
        for attack in corpus():
            if attack.runs_here and (mode["slow"] or not attack.is_slow):
                show.run(attack)
        story = {"box": sandbox.name, "user": os.geteuid(), **show.story()}
    victim = Path(f"/proc/{os.environ['GRADER_STAGE_VICTIM']}/stat").read_text().rpartition(")")[2].split()[0]
    return {**story, "harm": {"victim": victim != "S", "files": arena.state() != before}}


class _OneLife(Sandbox):
    """A sandbox whose zygote is not replaced when an attack has killed it."""

    def _replace(self, lost: handles.ZygoteHandle) -> None:
        raise GraderFault(f"the zygote is dead: {lost}")


def _replace_the_zygote(walls: list[str]) -> None:
    """Have the handle start the zygote of `arena_walls`, in an environment that is not clean unless that is asked."""

    def start(module: str, function: str, arguments: str) -> list[str]:
        return [sys.executable, "-I", "-c", _ENTRY.format(root=str(ROOT), walls=walls, arguments=arguments)]

    handles.search_path = SimpleNamespace(isolated=start)  # type: ignore[assignment]
    secret = {} if "clean start" in walls else _SECRET
    handles.environment = lambda: {**_CLEAN(), **secret}
    handles.subprocess = _warm_start() if secret else subprocess  # type: ignore[assignment]


@functools.cache
def _warm_start() -> WarmStart:
    """Return what the modes without a clean start have their zygotes forked from."""
    return WarmStart(_SECRET)


def _move_to(place: str, *, as_root: bool) -> None:
    """Become what serves in this place."""
    if not as_root and os.geteuid() == 0:
        user = arena.ordinary()
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if place == "docker":
        docker.confine()
    elif place == "without namespaces":
        privileges.forbid_new_privileges()
        seccomp.load(filter_of("unshare,setns"))


class _Show:
    """Runs attacks one after the other and keeps what they came to."""

    def __init__(self, sandbox: Sandbox, *, honest_every: int) -> None:
        self._sandbox = sandbox
        self._honest_every = honest_every
        self._verdicts: dict[str, str] = {}
        self._after: dict[str, str] = {}
        self._seconds: list[float] = []
        time.sleep(_FOLDING_SECONDS)
        self._idle = [self._honest()[1] for _ in range(12)][2:]

    def run(self, attack: Attack) -> None:
        """Run one attack, and an honest submission after every so many, after none if that is 0."""
        try:
            self._verdicts[attack.name] = verdict(self._sandbox.run(plan(), attack.source, attack.limits))
        except GraderFault:  # it took the zygote down
            self._verdicts[attack.name] = "zygote lost"
        if self._honest_every and len(self._verdicts) % self._honest_every == 0:
            self._after[attack.name], seconds = self._honest()
            self._seconds.append(seconds)

    def story(self) -> dict[str, object]:
        """Return the verdicts, and how long honest submissions took, before and between the attacks, in seconds."""
        idle, after = statistics.median(self._idle), statistics.median(self._seconds or [0.0])
        return {"verdicts": self._verdicts, "after": self._after, "idle": idle, "between": after}

    def _honest(self) -> tuple[str, float]:
        started = time.perf_counter()
        run = self._sandbox.run(plan(), HONEST, LIMITS)
        return verdict(run), time.perf_counter() - started


if __name__ == "__main__":
    main()
