"""What the commands of a class show to people: tables whose columns stand below each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.judge.text import one_line

_WIDEST = 40  # characters of a cell; names and reasons may be longer
_STATES = {"missing": "missing", "blank": "blank", "excused": "excused", "not_assigned": "n/a", "hidden": "hidden"}
Answer = Mapping[str, Any]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, without blanks at their ends."""
    shown = [[_short(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def classes(found: Sequence[Answer]) -> Iterator[str]:
    """Yield all classes."""
    yield from table(
        ("class", "name", "zone", "late days", "students", "sections"),
        [
            (one["class"], one["name"], one["zone"], str(one["bank"]), str(one["students"]), ", ".join(one["sections"]))
            for one in found
        ],
    )


def grades(people: Sequence[Answer]) -> Iterator[str]:
    """Yield a gradebook; `*` marks an override."""
    keys = list(people[0]["cells"]) if people else []
    yield from table(
        ("person", "name", "section", *keys, "total", "of", "percent", "late days"),
        [
            (
                one["person"], one["name"], one["section"], *(cell(one["cells"][key]) for key in keys), one["total"],
                one["possible"], one["percent"] or "-", f"{one['bank']['left']} of {one['bank']['start']}",
            )
            for one in people
        ],
    )  # fmt: skip


def cell(one: Answer) -> str:
    """Return a cell: its points, a mark where they are an override, and its state where it is not graded."""
    state = _STATES.get(one["state"], "")
    if one["override"] is not None:
        return f"{one['points']}*"
    return " ".join(filter(None, (one["points"], state)))


def figures(statistics: Answer) -> Iterator[str]:
    """Yield the figures of a class, of its sections and of its assignments."""
    every = {"percent": statistics["percent"]}
    every |= {f"section {name}": one for name, one in statistics["sections"].items()} | statistics["assignments"]
    names = ("n", "mean", "median", "full", "zero")
    rows = [(what, *(_figure(one.get(name)) for name in names)) for what, one in every.items()]
    yield from table(("", "students", "mean", "median", "full marks", "zero"), rows)


def changes(found: Answer) -> Iterator[str]:
    """Yield what a change does to cells and banks."""
    cells, banks = found["cells"], found["banks"]
    yield f"{len(cells)} {'cell changes' if len(cells) == 1 else 'cells change'}, late days of {len(banks)}"
    if cells:
        held = {True: "held by an override", False: ""}
        yield from table(
            ("person", "assignment", "before", "after", ""),
            [
                (one["person"], one["assignment"], one["before"] or "-", one["after"] or "-", held[one["held"]])
                for one in cells
            ],
        )
    if banks:
        rows = [(one["person"], str(one["before"]), str(one["after"])) for one in banks]
        yield from table(("late days left", "before", "after"), rows)


def board(rows: Sequence[Answer]) -> Iterator[str]:
    """Yield the rows of a board."""
    yield from table(
        ("rank", "person", "score", "attempts", "handed in"),
        [(str(one["rank"]), one["person"], one["score"], str(one["attempts"]), one["at"]) for one in rows],
    )


def mistakes(found: Sequence[Answer]) -> Iterator[str]:
    """Yield what a class misunderstands; who is stuck is in what `--json` writes."""
    yield from table(
        ("exercise", "mistake", "students", "attempts", "mended", "after attempts", "stuck"),
        [
            (
                one["exercise"], one["mistake"], str(one["students"]), str(one["attempts"]), str(one["mended"]),
                one["took"] or "-", str(len(one["stuck"])),
            )
            for one in found
        ],
    )  # fmt: skip


def audit(lines: Sequence[Answer]) -> Iterator[str]:
    """Yield the lines of an audit; the values before and after are in what `--json` writes."""
    yield from table(
        ("at", "by", "what", "", "about", "reason"),
        [
            (one["at"], one["by"], one["do"], "" if one["ok"] else "refused", one["subject"], one["reason"])
            for one in lines
        ],
    )


def _figure(value: object) -> str:
    return "-" if value is None else str(value)


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
