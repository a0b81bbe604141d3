"""Reads a notebook as the Python file that it is: its code cells in order, each below a line that says which it is.

What IPython takes and Python does not, `%` and `!` at the beginning of a statement and `name?`, is put out of action,
in plain files too. nbconvert writes a cell that begins with `%%` as a string; its code is unpacked. All of it takes
time in proportion to the text.
"""

from __future__ import annotations

import contextlib
import json
import re
from bisect import bisect_right
from dataclasses import replace
from typing import Any

from grader.box.observations import Observations, Raised
from grader.errors import Rejected
from grader.judge.clues import Clue
from grader.judge.tokens import magic

MOST_CELLS = 2000
_HEAD = "# %% cell {} of the notebook"
_HEADS = re.compile(r"^# %% cell (\d{1,4}) of the notebook$", re.MULTILINE)
_NO_PYTHON = frozenset(
    {"bash", "sh", "html", "HTML", "javascript", "js", "latex", "markdown", "svg", "writefile", "script"}
)
_TEXT = r"""('(?:[^'\\\n]++|\\.)*+'|"(?:[^"\\\n]++|\\.)*+")"""  # as nbconvert writes one: no prefix, on one line
_PACKED = re.compile(rf"^get_ipython\(\)\.run_cell_magic\({_TEXT}, {_TEXT}, {_TEXT}\)[ \t]*$", re.MULTILINE)
_FUTURE = re.compile(r"^from __future__ import \w+(?:, ?\w+)*+", re.MULTILINE)
_SKIPPED = "pass  # "
_RUNS = re.compile(r"%time[ \t]++(?=\S)")


def python_of(text: str) -> str:
    """Return the Python of a source text: a notebook's code cells, and nothing in the place of `%` and `!` lines.

    Raises:
        Rejected: it is a notebook that cannot be read, or has no code in it.
    """
    return without_magic(_joined(_cells(text)) if _is_notebook(text) else _PACKED.sub(_unpacked, text))


def _unpacked(call: re.Match[str]) -> str:
    """Return the cell that nbconvert has made `call` of, `%%` line and code; `call` itself if it is another one."""
    with contextlib.suppress(ValueError):
        name, options, code = map(_written_out, call.groups())
        head = f"%%{name} {' '.join(options.split())}".rstrip()
        return head if name in _NO_PYTHON else f"{head}\n{code.rstrip()}"
    return call[0]


def _written_out(literal: str) -> str:
    """Return what a string of Python's says, without its parser, which is not for texts that no box has compiled.

    Raises:
        ValueError: an escape has no meaning.
    """
    return literal[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape")


def without_magic(text: str) -> str:
    """Return `text` with `pass` in the place of each statement that is for IPython; lines stay where they are."""
    pieces, end = [], 0
    for start, stop in magic(text):
        timed = _RUNS.match(text, start)  # `%time` runs what stands behind it
        command = text[timed.end() : stop] if timed else _SKIPPED + text[start:stop].replace("\n", "\n# ")
        pieces += [text[end:start], command]
        end = stop
    return "".join((*pieces, text[end:]))


def skipped(text: str) -> tuple[str, ...]:
    """Return a remark if commands for IPython were put out of action in `text`."""
    count = sum(text.count(f"{_SKIPPED}{sign}") for sign in "%!")
    what = "an IPython line (`%` or `!`)" if count == 1 else f"{count} IPython lines (`%`, `!`)"
    return (f"{what} had no effect here; the rest of your file was run",) if count else ()


def in_cells(observed: Observations, text: str) -> Observations:
    """Return `observed` with the lines of errors counted in the cells of the notebook that `text` was."""
    heads = _heads(text)
    if not heads:
        return observed

    def moved(raised: Raised | None) -> Raised | None:
        if raised is None or raised.line is None:
            return raised
        cell, line = _place(heads, raised.line)
        return replace(raised, line=line, cell=cell)

    return replace(
        observed,
        calls={name: replace(call, raised=moved(call.raised)) for name, call in observed.calls.items()},
        builds={name: replace(build, raised=moved(build.raised)) for name, build in observed.builds.items()},
        loading=moved(observed.loading),
        loaded=replace(observed.loaded, raised=moved(observed.loaded.raised)),
    )


def clues_in_cells(clues: tuple[Clue, ...], text: str) -> tuple[Clue, ...]:
    """Return `clues` with their lines counted in the cells of the notebook that `text` was."""
    heads = _heads(text)
    if not heads:
        return clues
    places = [(clue, *_place(heads, clue.line)) if clue.line else (clue, None, None) for clue in clues]
    return tuple(replace(clue, line=line, cell=cell) for clue, cell, line in places)


def place_of(line: int, text: str) -> str:
    """Return a line in words, counted in its cell if `text` was a notebook: `line 14`, or `cell 3, line 2`."""
    heads = _heads(text)
    cell, inside = _place(heads, line) if heads else (None, line)
    return f"cell {cell}, line {inside}" if cell else f"line {inside}"


def _heads(text: str) -> list[tuple[int, int]]:
    """Return for each cell the line of its head, and its number."""
    found, line, end = [], 1, 0
    for match in _HEADS.finditer(text):
        line, end = line + text.count("\n", end, match.start()), match.start()
        found.append((line, int(match[1])))
    return found


def _place(heads: list[tuple[int, int]], line: int) -> tuple[int | None, int]:
    index = bisect_right(heads, (line, MOST_CELLS + 1)) - 1
    return (heads[index][1], line - heads[index][0]) if index >= 0 else (None, line)


def _is_notebook(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"cells"' in text


def _cells(text: str) -> list[tuple[int, str]]:
    """Return the code cells of a notebook with their numbers, counted as a reader does, among all cells from 1.

    Raises:
        Rejected: as above.
    """
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejected("your file looks like a notebook, but is not a valid one; send the whole .ipynb file") from error
    cells = book.get("cells")
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise Rejected(f"your notebook has no list of cells, or more than {MOST_CELLS}; send the .py file instead")
    code = [(number, _source(cell)) for number, cell in enumerate(cells, start=1) if _is_code(cell)]
    code = [(number, source) for number, source in code if source.strip()]
    if not code:
        raise Rejected("your notebook has no cell with code in it")
    return code


def _is_code(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _source(cell: dict[str, Any]) -> str:
    """Return the text of a code cell, nothing where it is for another language."""
    lines = cell.get("source", "")
    text = lines if isinstance(lines, str) else "".join(filter(_is_str, lines if isinstance(lines, list) else ()))
    text = text.encode("utf-8", "replace").decode().replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    head = text.lstrip()[:40].split()[:1]
    if head and head[0].startswith("%%") and head[0][2:] in _NO_PYTHON:
        return ""
    return text


def _is_str(line: object) -> bool:
    return isinstance(line, str)


def _joined(cells: list[tuple[int, str]]) -> str:
    text = "".join(f"{_HEAD.format(number)}\n{source.rstrip()}\n" for number, source in cells)
    if not (future := list(_FUTURE.finditer(text))):
        return text
    first = "; ".join(dict.fromkeys(found[0] for found in future))  # Python wants them there, IPython in any cell
    return f"{first}\n{_FUTURE.sub('pass', text)}"


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
