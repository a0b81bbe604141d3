"""Runs the corpus in every mode and prints who stops what: `python -m tests.sandbox.modes`.

With the name of a mode it prints all that came of that one, as JSON. `--page` writes the tables of docs/attacks.md,
which hold what the files say; the tests hold the files to what is measured.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.sandbox.arena import NOT_POSSIBLE, ROOT
from tests.sandbox.arena_corpus import AREAS, STOPPERS, WALLS, Attack, corpus

PAGE = ROOT / "docs" / "attacks.md"
_BEGIN, _END = "<!-- begin of the tables -->\n", "<!-- end of the tables -->\n"
_OPEN = ("through", "zygote lost")
# Where a system keeps user namespaces from ordinary users it says so in one of these, by this value.
_KEPT = {
    Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"): "1",
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "0",
    Path("/proc/sys/user/max_user_namespaces"): "0",
}


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to run the corpus.

    Attributes:
        walls: the only ones that stand, each by name; None for the product as it is.
        place: `docker`, `without namespaces`, or nothing for this machine as it is.
        root: who serves is root, not an ordinary user.
        slow: attacks that end by a clock are run as well.
        honest_every: after so many attacks an honest submission is run.
    """

    walls: tuple[str, ...] | None = None
    place: str = ""
    root: bool = False
    slow: bool = False
    honest_every: int = 8


MODES = {
    "no jail": Mode(walls=()),
    **{f"{wall} alone": Mode(walls=(wall,), root=wall == "other user") for wall in WALLS},
    "tier A, root": Mode(root=True),
    "tier A, ordinary user": Mode(honest_every=1),
    "tier B, root": Mode(place="without namespaces", root=True),
    "tier B, ordinary user": Mode(place="without namespaces", honest_every=1),
    "tier B, Docker's profile, root": Mode(place="docker", root=True),
    "tier B, Docker's profile, ordinary user": Mode(place="docker", slow=True),
}
TIERS = tuple(name for name in MODES if name.startswith("tier"))


class NotHere(Exception):
    """This mode cannot be shown on this machine; the text says why."""


def story(name: str) -> dict[str, Any]:
    """Return what came of the corpus in the mode called `name`.

    Raises:
        NotHere: the machine does not let us.
    """
    if reason := _hindrance(name):
        raise NotHere(reason)
    together = tuple(other for other in MODES if _stage(other) == _stage(name) and not _hindrance(other))
    return _stories(together)[together.index(name)]


def _stage(name: str) -> tuple[bool, bool]:
    """Return what modes have in common that share a stage, which spares the time to build it and to import torch."""
    return name in TIERS, name not in TIERS and MODES[name].root


def _hindrance(name: str) -> str:
    """Return why a mode cannot be shown on this machine; empty if it can."""
    mode = MODES[name]
    if mode.root and os.geteuid() != 0:
        return "only root can show what root's service is worth"
    if mode.place == "docker" and os.uname().machine != "x86_64":
        return "Docker's profile is written down for x86_64 only"
    if name == "tier A, ordinary user" and any(p.exists() and p.read_text().strip() == v for p, v in _KEPT.items()):
        return "this system keeps user namespaces from ordinary users"
    return ""


@functools.cache
def _stories(names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Build a stage and show these modes on it."""
    wish = json.dumps([asdict(MODES[name]) for name in names])
    done = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.arena", wish], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == NOT_POSSIBLE:
        raise NotHere(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"the modes {names} ended with {done.returncode}: {done.stderr}")
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


def open_in(name: str) -> set[str]:
    """Return the attacks that got through in the mode called `name`."""
    return {attack for attack, verdict in story(name)["verdicts"].items() if verdict in _OPEN}


def main() -> None:
    """Print what is measured here, or write the page."""
    if sys.argv[1:] == ["--page"]:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.partition(_BEGIN)[0], text.partition(_END)[2]
        PAGE.write_text(f"{before}{_BEGIN}{page()}{_END}{after}", encoding="utf-8")
    elif len(sys.argv) > 1:
        print(json.dumps(_stories((sys.argv[1],))[0], indent=1))
    else:
        print("\n".join([*_counts(), "", *_matrix()]))


def _counts() -> list[str]:
    """Return a row for every mode: how much was run, what got through, and what an honest run costs after an attack."""
    lines = [
        "| mode | attacks | of them probes | open | honest run between attacks | against one before them |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    probes = {attack.name for attack in corpus() if attack.is_probe}
    for name in MODES:
        try:
            told = story(name)
        except NotHere as reason:
            lines.append(f"| {name} | not here: {reason} | | | | |")
            continue
        between, ran = told["between"], set(told["verdicts"])
        times = f"{1000 * between:.0f} ms | {between / told['idle']:.2f}" if between else " | "
        lines.append(f"| {name} | {len(ran)} | {len(probes & ran)} | {len(open_in(name))} | {times} |")
    return lines


def _matrix() -> list[str]:
    """Return a row for every probe that succeeds without walls: which wall alone stops it, which tier."""
    columns = ["no jail", *(f"{wall} alone" for wall in WALLS), "tier B, ordinary user", "tier A, ordinary user"]
    found = {name: open_in(name) for name in columns}
    lines = [f"| attack | {' | '.join(['no jail', *WALLS, 'tier B', 'tier A'])} |", f"|---|{':-:|' * len(columns)}"]
    for attack in corpus():
        if attack.name in found["no jail"]:
            cells = ("open" if attack.name in found[name] else "held" for name in columns)
            lines.append(f"| {attack.area}/{attack.name} | {' | '.join(cells)} |")
    return [*lines, f"| open | {' | '.join(str(len(found[name])) for name in columns)} |"]


def page() -> str:
    """Return the tables of the page: the sums, what may stop an attack, and area by area every attack."""
    attacks = corpus()
    parts = [_sums(attacks), ["| what stops | by |", "|---|---|", *(f"| {n} | {how} |" for n, how in STOPPERS.items())]]
    for area in AREAS:
        rows = [_row(attack) for attack in attacks if attack.area == area]
        head = f"| `{area}/` | what it tries | ends as | no walls | {' | '.join(WALLS)} | other |"
        parts.append([f"### {area.capitalize()}", "", head, f"|---|---|---|:-:|{':-:|' * len(WALLS)}---|", *rows])
    return "\n".join(["", *("\n".join([*part, ""]) for part in parts)])


def _sums(attacks: list[Attack]) -> list[str]:
    lines = ["| area | attacks | thought up here | probes | succeed without walls |", "|---|--:|--:|--:|--:|"]
    for area in (*AREAS, "all"):
        those = [attack for attack in attacks if area in (attack.area, "all")]
        counts = (len(those), *(sum(getattr(a, what) for a in those) for what in _FACTS))
        lines.append(f"| {area} | {' | '.join(map(str, counts))} |")
    return lines


_FACTS = ("own", "is_probe", "succeeds_without_walls")


def _row(attack: Attack) -> str:
    """Return what the file says; a wall in brackets should stop it, and nothing got through that would show it."""
    tries = attack.strategy.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    ends = " or ".join(ascii(said)[1:-1] if len(said) < 40 else f"{said[:20]}…" for said in attack.expected)
    mark = "●" if attack.succeeds_without_walls else "(●)"
    cells = [mark if wall in attack.stoppers else "" for wall in WALLS]
    free = "open" if attack.succeeds_without_walls else "refused" if attack.powerless else ""
    others = ", ".join(stopper for stopper in attack.stoppers if stopper not in WALLS)
    own = " *" if attack.own else ""
    return f"| `{attack.name}`{own} | {tries} | {ends} | {free} | {' | '.join(cells)} | {others} |"


if __name__ == "__main__":
    main()
