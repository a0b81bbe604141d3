"""Says in one sentence what somebody sent in place of Python, where Python's own message would not tell them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from keyword import kwlist

from grader.box.observations import Raised

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
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’](?=[^\W\d_])")  # noqa: RUF001 - as above
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
    for begins, sentence in _FILES.items():
        if first.lstrip().startswith(begins):
            return sentence
    line = lines[raised.line - 1][:_LONGEST] if raised.line <= len(lines) else ""
    return next(_about_line(line, raised.line, _fence(lines)), "")


def _fence(lines: list[str]) -> int | None:
    """Return the number of the first line that begins or ends a block of Markdown."""
    return next((number for number, line in enumerate(lines, 1) if line.lstrip().startswith("```")), None)


def _about_line(line: str, number: int, fence: int | None) -> Iterator[str]:
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
