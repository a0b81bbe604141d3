"""What was handed in, as text: a Python file or a notebook, or something else that somebody took for one.

A notebook is read as the Python file that it is: its code cells in order, each below a line that says which it is. What
IPython takes and Python does not, `%` and `!` at the beginning of a statement and `name?`, is put out of action, in
plain files too. nbconvert writes a cell that begins with `%%` as a string; its code is unpacked.

Nothing is run or parsed here, and all of it takes time in proportion to the text, whatever stands in it. Python's own
`tokenize` starts anew behind each quote that is never closed, so it needs the square of the length. Here a token takes
all that was looked at: no repetition gives back what it took (`++`, `*+`, `(?>…)`), and a string without an end goes to
the end of its line, or of the text. What is no Python comes out as some tokens or other, never as an error.
"""

from __future__ import annotations

import contextlib
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from keyword import kwlist
from typing import Any

from grader.box.observations import Observations, Raised
from grader.errors import Rejected
from grader.judge.report import Clue

MOST_CELLS = 2000  # of a notebook
_SINGLE = {"float32", "FloatTensor"}
# What `finfo` is asked for is left: the lowest number of float32 is a fill value, and that of float64 overflows sooner.
_ASKS = re.compile(r"finfo\(\s*+(?:\w++\.)?+float(?:32)?+\b|float32|FloatTensor|(?<=\.)float\b")
_IN_DOUBLE = {"float32": "float64", "FloatTensor": "DoubleTensor", "float": "double"}


def read_source(source: str | bytes, *, limit_bytes: int) -> str:
    """Return the text of a submission: its Python, where it is a notebook.

    Raises:
        Rejected: it is empty, too long, not UTF-8, a broken notebook, or holds a NUL; the text says which, and where.
    """
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    if len(raw) > limit_bytes:
        limit = limit_bytes // 1024
        raise Rejected(f"your file is too long: at most {limit} KiB are allowed. Remove data and outputs")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(
            f"your file is not UTF-8 text (byte {error.start} is {raw[error.start]:#04x}); save it as UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Rejected(
            f"your file has a NUL character in line {line}, so it is not a text file; send the .py file itself"
        )
    if not text.strip():
        raise Rejected("your file is empty")
    return python_of(text)


def names_single_precision(text: str) -> bool:
    """Return whether the code (not its comments or strings) asks for float32 by name."""
    previous = ""
    for token in tokens(text):
        if token in _SINGLE or (token == "float" and previous == "."):
            return True
        previous = token
    return False


def in_double_precision(text: str) -> str:
    """Return the same code, asking for float64 wherever it asks for float32, in strings too."""
    return _ASKS.sub(lambda found: _IN_DOUBLE.get(found[0], found[0]), text)


# ---- tokens

_TOKEN = re.compile(
    r"""
    \#[^\n]*+
    | (?i:[rbuf]{0,2}+) (?:
        \"\"\" (?: [^"\\]++ | \\(?:.|\Z) | "(?!"") )*+ (?: \"\"\" | \Z )
        | '''  (?: [^'\\]++ | \\(?:.|\Z) | '(?!'') )*+ (?: ''' | \Z )
        | "    (?: [^"\\\n]++ | \\(?:.|\Z) )*+ (?: " | (?=\n) | \Z )
        | '    (?: [^'\\\n]++ | \\(?:.|\Z) )*+ (?: ' | (?=\n) | \Z )
    )
    | (?:[^\W\d]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*+
    | \d[\w.]*+
    | \S
    """,
    re.DOTALL | re.VERBOSE,
)


def tokens(text: str) -> Iterator[str]:
    """Yield the names, numbers, strings with their prefix, comments and single signs of a source text."""
    return (token[0] for token in _TOKEN.finditer(_with_newlines(text)))


def logical_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the tokens of each line that ends outside of brackets.

    Comments and the signs that join lines are left out.
    """
    plain = _with_newlines(text)
    line: list[str] = []
    depth, end, joined = 0, 0, False
    number, counted, first = 1, 0, 1
    for match in _TOKEN.finditer(plain):
        token, start = match[0], match.start()
        if line and depth == 0 and not joined and "\n" in plain[end:start]:
            yield first, line
            line = []
        depth = max(depth + (token in "([{") - (token in ")]}"), 0)
        end, joined = match.end(), token == "\\"
        if not joined and token[0] != "#":
            if not line:
                number, counted = number + plain.count("\n", counted, start), start
                first = number
            line.append(token)
    yield first, line


def _with_newlines(text: str) -> str:
    """Return a text with a newline for each end of a line: Python ends one, and a comment, at a carriage return too."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_text(token: str) -> bool:
    """Return whether a token is a string."""
    return token[-1] in "\"'" or token.lstrip("rbufRBUF")[:1] in ("'", '"')


def is_name(token: str) -> bool:
    """Return whether a token is a name or a keyword."""
    return (token[0].isalpha() or token[0] == "_" or not token[0].isascii()) and not is_text(token)


# ---- notebooks

_HEAD = "# %% cell {} of the notebook"
_HEADS = re.compile(r"^# %% cell (\d{1,4}) of the notebook$", re.MULTILINE)
_NO_PYTHON = frozenset(
    {"bash", "sh", "html", "HTML", "javascript", "js", "latex", "markdown", "svg", "writefile", "script"}
)
_TEXT = r"""('(?:[^'\\\n]++|\\.)*+'|"(?:[^"\\\n]++|\\.)*+")"""  # as nbconvert writes one: no prefix, on one line
_PACKED = re.compile(rf"^get_ipython\(\)\.run_cell_magic\({_TEXT}, {_TEXT}, {_TEXT}\)[ \t]*$", re.MULTILINE)
_FUTURE = re.compile(r"^from __future__ import \w+(?:, ?\w+)*+", re.MULTILINE)
_SKIPPED = "pass  # "
_HELP = re.compile(r"(?:\?{1,2}+[\w.*]++|(?<![\w.*])[\w.*]++\?{1,2}+)[^\S\n]*+(?=\n|\Z)")  # IPython describes the name
_MAGIC = re.compile(rf"^[^\S\n]*+(?:[%!]|{_HELP.pattern})", re.MULTILINE)  # where there is none there is no command
_RUNS = re.compile(r"%time[ \t]++(?=\S)")


def python_of(text: str) -> str:
    """Return the Python of a source text: a notebook's code cells, and nothing in the place of `%` and `!` lines.

    Raises:
        Rejected: it is a notebook that cannot be read, or has no code in it.
    """
    is_notebook = text.lstrip()[:1] == "{" and '"cells"' in text
    return without_magic(_joined(_cells(text)) if is_notebook else _PACKED.sub(_unpacked, text))


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
    for start, stop in _magic(text):
        timed = _RUNS.match(text, start)  # `%time` runs what stands behind it
        command = text[timed.end() : stop] if timed else _SKIPPED + text[start:stop].replace("\n", "\n# ")
        pieces += [text[end:start], command]
        end = stop
    return "".join((*pieces, text[end:]))


def _magic(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each command for IPython begins and ends: `%`, `!` or `name?` where Python begins a statement.

    It ends with its line, or a later one where lines end in a backslash.
    """
    if _MAGIC.search(text) is None:
        return
    depth, end, joined = 0, 0, False
    while (match := _TOKEN.search(text, end)) is not None:
        token, start = match[0], match.start()
        begins = depth == 0 and not joined and (end == 0 or "\n" in text[end:start])
        if begins and (token in "%!" or _HELP.match(text, start)):
            end = start
            while (stop := text.find("\n", end)) > 0 and text[stop - 1] == "\\":
                end = stop + 1
            end = stop if stop >= 0 else len(text)
            yield start, end
            continue
        depth = max(depth + (token in "([{") - (token in ")]}"), 0)
        end, joined = match.end(), token == "\\"


def skipped_magic(text: str) -> tuple[str, ...]:
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
    found, line, end = [], 1, 0
    for match in _HEADS.finditer(text):
        line, end = line + text.count("\n", end, match.start()), match.start()
        found.append((line, int(match[1])))
    return found


def _place(heads: list[tuple[int, int]], line: int) -> tuple[int | None, int]:
    index = bisect_right(heads, (line, MOST_CELLS + 1)) - 1
    return (heads[index][1], line - heads[index][0]) if index >= 0 else (None, line)


def _cells(text: str) -> list[tuple[int, str]]:
    """Return the code cells of a notebook with their numbers, counted as a reader does, among all cells from 1."""
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejected("your file looks like a notebook, but is not a valid one; send the whole .ipynb file") from error
    cells = book.get("cells")
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise Rejected(f"your notebook has no list of cells, or more than {MOST_CELLS}; send the .py file instead")
    all_cells = ((number, _code(cell)) for number, cell in enumerate(cells, start=1))
    code = [(number, source) for number, source in all_cells if source.strip()]
    if not code:
        raise Rejected("your notebook has no cell with code in it")
    return code


def _code(cell: Any) -> str:
    """Return the text of a cell, nothing where it is no code, or code in another language."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return ""
    lines = cell.get("source", "")
    if not isinstance(lines, str):
        lines = "".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
    text = lines.encode("utf-8", "replace").decode().replace("\0", "")
    head = text.lstrip()[:40].split()[:1]
    is_other = head and head[0].startswith("%%") and head[0][2:] in _NO_PYTHON
    return "" if is_other else _with_newlines(text)


def _joined(cells: list[tuple[int, str]]) -> str:
    text = "".join(f"{_HEAD.format(number)}\n{source.rstrip()}\n" for number, source in cells)
    if not (future := list(_FUTURE.finditer(text))):
        return text
    first = "; ".join(dict.fromkeys(found[0] for found in future))  # Python wants them there, IPython in any cell
    return f"{first}\n{_FUTURE.sub('pass', text)}"


# ---- what is no Python

_LONGEST = 300  # characters of a line that are looked at
_FILES = {
    "pass  # %PDF": "your file is a PDF; send the .py file itself",  # as a line for IPython it is out of action by now
    "PK\x03\x04": "your file is a ZIP archive or an office document; send the .py file in it",
    "<": "your file is a web page or another document in HTML or XML; send the .py file itself",
    "{\\rtf": "your file is a document of a word processor; save it as plain text",
}
_PYTHON_PROMPT = re.compile(r"(>>>|\.\.\.)(\s|$)")
_CELL_PROMPT = re.compile(r"(In|Out) ?\[[ \d]{0,9}\]:")
_QUOTES = "“”„‟‘’‚‛«»"  # noqa: RUF001 - these are what is looked for
_SIGNS = {"−": "-", "–": "-", "—": "-", "×": "*", "÷": "/", "…": "...", "，": ",", "（": "(", "）": ")", "：": ":"}  # noqa: RUF001 - as above
_CAPITAL = re.compile(  # as the keyboards of phones begin a line
    r"(Import|From|Def|Class|Return|For|While|If|Elif|Else|With|Try|Raise)\b(?=.*[:(.=\[]|.* import | \w+$)"
)
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’](?=[^\W\d_])")
_CODE = re.compile(r"[=()\[\]{}:#@\"'\\_]")


def what_it_is(text: str, raised: Raised | None) -> str:
    """Return what was sent in place of Python, and in which line; empty where that cannot be said.

    Args:
        text: what was sent.
        raised: the error that ended its loading, if one did.
    """
    if raised is None or raised.type not in ("SyntaxError", "IndentationError") or raised.line is None or raised.cell:
        return ""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if file := next((sentence for begins, sentence in _FILES.items() if first.lstrip().startswith(begins)), ""):
        return file
    line = lines[raised.line - 1][:_LONGEST] if raised.line <= len(lines) else ""
    fence = next((number for number, one in enumerate(lines, 1) if one.lstrip().startswith("```")), None)
    return next(_about_line(line, raised.line, fence), "")


def _about_line(line: str, number: int, fence: int | None) -> Iterator[str]:
    """Yield what a line is; `fence` is the number of the first one that begins or ends a block of Markdown."""
    if line.lstrip().startswith("```") or (fence is not None and _is_prose(line)):
        yield f"line {fence} is Markdown (three backquotes), not Python; send only the code between two such lines"
    if found := _PYTHON_PROMPT.match(line.lstrip()):
        yield f"line {number} begins with `{found[1]}`, the prompt of Python; remove the prompts and what was printed"
    if _CELL_PROMPT.match(line.lstrip()):
        yield f"line {number} begins with the prompt of a notebook; send the .ipynb file itself, or its code only"
    if any(character in _QUOTES for character in line) and not _is_prose(line):
        yield f"line {number} has typographic quotation marks; type straight ones: \" or '"
    yield from _about_characters(line, number)
    found = _CAPITAL.match(line.lstrip())
    if found and (found[1] in ("From", "Import") or not _is_prose(line)):
        yield f"line {number} begins with `{found[1]}`; Python's word is `{found[1].lower()}`, all in small letters"
    if _is_prose(line):
        yield f"line {number} is text and not Python; remove it, or begin it with #"


def _about_characters(line: str, number: int) -> Iterator[str]:
    for character in line:
        kind = unicodedata.category(character)
        if character in _SIGNS:
            yield f"line {number} has the character {_named(character)}; type {_SIGNS[character]} in its place"
        if character != " " and kind == "Zs":
            yield f"line {number} has a special space ({_named(character)}), as web pages do; type a plain one"
        if kind == "Cf":
            yield f"line {number} has an invisible character ({_named(character)}), as in chats; delete it"


def _named(character: str) -> str:
    return f"{unicodedata.name(character, 'without a name').capitalize()}, U+{ord(character):04X}"


def _is_prose(line: str) -> bool:
    """Return whether a line has words only, as a sentence has."""
    words = _APOSTROPHE.sub("", line).rstrip(" :").split()
    return len(words) >= 3 and not _CODE.search(" ".join(words)) and words[0] not in kwlist
