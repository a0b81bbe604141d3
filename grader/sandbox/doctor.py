"""Says which walls this machine has, by trying them: a call that returned success proves nothing."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass

from grader import search_path
from grader.errors import SandboxUnavailable
from grader.sandbox.memory import available, why_no_group
from grader.sandbox.walls import TIERS, tier

_SECONDS = 10.0

_NAMESPACES = "the right to make namespaces, which containers usually withhold and Ubuntu's AppArmor makes worthless"

# What would raise each wall.
_REMEDIES = {
    "system call filter": "a Linux kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64, not inside gVisor",
    "limits": "a system that enforces resource limits",
    "not root": "start the service as an ordinary user, or as root with CAP_SETUID and CAP_SETGID",
    "landlock": "Linux 5.13 or newer with `landlock` in its list of security modules",
    "landlock network": "Linux 6.7 or newer; without it Landlock is about files alone",
    "landlock signals": "Linux 6.12 or newer",
    "empty network": _NAMESPACES,
    "own shared memory": _NAMESPACES,
    "own host name": _NAMESPACES,
    "own processes": _NAMESPACES,
    "empty root": "the other namespaces, and the right to mount in them",
}
_GROUP_REMEDY = "root outside of a container, or groups of one's own, as systemd gives with Delegate=memory"
_FLOOR = {"system call filter", "limits", "not root"}
_APART = {"empty network", "own shared memory", "own host name", "own processes", "empty root"}


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall: does it hold here, what went wrong where not, and what would raise it."""

    name: str
    holds: bool
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What this machine offers: all walls, those that cannot be missing first."""

    walls: tuple[Wall, ...]

    @property
    def tier(self) -> str:
        """`A`, `B` or `C`, as `grader.sandbox.walls` explains; `none` where a wall is missing that nothing replaces."""
        holding = {wall.name for wall in self.walls if wall.holds}
        if not holding >= _FLOOR:
            return "none"
        return tier(landlocked="landlock" in holding, apart=holding >= _APART)

    def lines(self) -> list[str]:
        """Return a line for each wall and one for the tier."""
        width = max(len(wall.name) for wall in self.walls)
        said = [
            f"{wall.name:{width}}  holds"
            if wall.holds
            else f"{wall.name:{width}}  MISSING: {wall.detail} (needs: {wall.remedy})"
            for wall in self.walls
        ]
        return [*said, f"tier {self.tier}: {TIERS[self.tier]}"]


class Examination:
    """Tries every wall in throw-away processes, from now on; takes a fraction of a second."""

    def __init__(self) -> None:
        self._probes: subprocess.Popen[str] | None = None
        if sys.platform == "linux":
            self._probes = subprocess.Popen(
                search_path.isolated("grader.sandbox.probes", "tell_all"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )

    def diagnosis(self) -> MachineReport:
        """Wait for the probes and return what they found."""
        wrong = _findings(self._probes)
        walls = tuple(Wall(name, not wrong[name], wrong[name], remedy) for name, remedy in _REMEDIES.items())
        return MachineReport(walls)

    def kill(self) -> None:
        """End the probes without waiting for them."""
        if self._probes is not None:
            self._probes.kill()

    def close(self) -> None:
        """End the probes, whether somebody has waited for them or not."""
        if self._probes is not None:
            with self._probes:
                self._probes.kill()


def memory() -> str:
    """Return one line on memory: how much there is, and whether all submissions together can have a limit of their own.

    It is no wall and counts for no tier: each submission has its own limit, and those of all slots must fit.
    """
    there = f"memory: {available() >> 20} MiB for the service and all submissions"
    missing = why_no_group()
    if not missing:
        return f"{there}; a control group limits the submissions together"
    return f"{there}; no control group limits the submissions together: {missing} (needs: {_GROUP_REMEDY})"


def probe() -> MachineReport:
    """Try every wall and return what was found."""
    with contextlib.closing(Examination()) as examination:
        return examination.diagnosis()


def require_floor(found: MachineReport | None = None, *, allow_one_wall: bool = False) -> MachineReport:
    """Return the diagnosis where this machine may run strangers' code.

    Args:
        found: of this machine; it is examined now if left out.
        allow_one_wall: tier C will do.

    Raises:
        SandboxUnavailable: it may not; the text names the first missing wall and the remedy.
    """
    found = found or probe()
    if found.tier in ("A", "B") or (found.tier == "C" and allow_one_wall):
        return found
    missing = next(wall for wall in found.walls if not wall.holds)
    raise SandboxUnavailable(
        f"no sandbox on this machine: the wall `{missing.name}` does not hold ({missing.detail});"
        f" it needs {missing.remedy}. `attention-gym doctor` shows every wall."
    )


def _findings(probes: subprocess.Popen[str] | None) -> dict[str, str]:
    if probes is None:
        return dict.fromkeys(_REMEDIES, f"this is {sys.platform}, not Linux")
    try:
        said, complaint = probes.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        said, complaint = "", f"no answer within {_SECONDS:g} s"
    if not said:
        return dict.fromkeys(_REMEDIES, f"the probes did not run: {complaint.strip() or 'no answer'}")
    findings: dict[str, str] = json.loads(said)
    return findings
