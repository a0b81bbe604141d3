"""Texts that have kept one reader or another busy: what nests, what is never closed, what is long, what is many."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.exercise.catalog import ROOT

Text = Callable[[int], str]


def _row(piece: str, before: str = "", after: str = "") -> Text:
    """Give a text of so many bytes: `piece` again and again between two others."""

    def text(size: int) -> str:
        room = size - len((before + after).encode())
        return before + piece * max(1, room // len(piece.encode())) + after

    return text


def _numbered(piece: str, before: str = "", between: str = "\n") -> Text:
    """Give a text of pieces in which `#` is their number and `@` the next one."""

    def text(size: int) -> str:
        count = size // (len(piece) + len(between) + 4 * piece.count("#") + 4 * piece.count("@"))
        return before + between.join(piece.replace("#", str(n)).replace("@", str(n + 1)) for n in range(count))

    return text


def honest(size: int) -> str:
    """Give a text as somebody would write it."""
    source = (ROOT / "reference" / "multi_head_attention.py").read_text(encoding="utf-8")
    return (source * (size // len(source) + 1))[:size]


TEXTS: Mapping[str, Text] = {
    "honest": honest,
    # strings: never closed, escaped, of the other kind, behind a comment that ends where only Python sees it
    "escaped quotes": _row("\\'", "'"),
    "quotes on lines": _row("'\n"),
    "triple in triple": _row("''' '\\'\n", '""" \\""" ', '"""'),
    "escaped in triple": _row("'\\", '""" \\""" ', ' """'),
    "comment to a return": _row("'''\\'", '# \r"""\n', '\n"""'),
    "triples unclosed": _row("\"\"\" ''' ", "x = "),
    "prefixes": _row("rb"),
    "backslashes": _row("\\"),
    "continued lines": _row("+\\\n", "x = ", "1"),
    "empty strings": _row("''", "x = "),
    "one string": _row("a", "x = '", "'"),
    "named escape": _row("A", "x = '\\N{", "}'"),
    "f-strings": _row("f'{a}'", "x = "),
    "fields": _row("{a}", "x = f'", "'"),
    "fields on lines": _row("{a}\n", "x = f'''", "'''"),
    "nested fields": _row("{a:{a}}", "x = f'", "'"),
    # nesting and chains
    "open brackets": _row("([{", "x = "),
    "brackets": _row("(" * 60 + "1" + ")" * 60 + ",", "x = (", ")"),
    "comprehensions": _row("x = " + "[a for a in " * 60 + "[]" + "]" * 60 + "\n"),
    "attributes": _row(".a", "x"),
    "packed cell of brackets": _row("(", "get_ipython().run_cell_magic(", ")"),
    "packed cell of accents": _row("\u0316\u0301", "get_ipython().run_cell_magic('time', '', 'a", "')"),
    "packed cells without an end": _row("get_ipython().run_cell_magic('a\\\\', '\n"),
    "attribute without an end": _row("a", "'''\na.", "\n'''"),
    "attributes in a docstring": _row("a.", "'''", "'''"),
    "words that bind": lambda size: _row("for ", "x = '")(size // 2) + _row(". ", "", "'")(size // 2),
    "subscripts": _row("['a']", "import torch\nx = torch"),
    "calls": _row("()", "x"),
    "getattr": _row("x = " + "getattr(" * 40 + "torch" + ", 'a')" * 40 + "\n", "import torch\n"),
    "sums": _row("+a", "x = a"),
    "signs": _row("-", "x = ", "1"),
    "lambdas": _row("lambda:", "x = ", "0"),
    "indentation": _row("".join(" " * n + "if a:\n" for n in range(90)) + " " * 90 + "a\n"),
    "elif": _row("elif __name__:\n a\n", "if a:\n a\n"),
    "keyword of a keyword": _row("f(a.b="),
    # long and many
    "long import": _row(".a", "import torch"),
    "long import in use": lambda size: _row(".a", "import torch", " as t\n")(size // 2) + _row("t;")(size // 2),
    "imports": _numbered("import torch as t#"),
    "star imports": lambda size: _numbered("from a# import *")(size // 2) + "\n" + _row("softmax;")(size // 2),
    "names and statements": lambda size: _numbered("n#")(size // 2) + "\n" + _row("pass\n")(size // 2),
    "definitions": _numbered("def f#(): f@"),
    "classes": _numbered("class f#:\n def g#(s): f@; g@"),
    "assignments": _numbered("n# = n@"),
    "statements": _row("a;"),
    "arguments": _numbered("a#=1", "f(", ","),
    "number": _row("1", "x = "),
    "fraction": _row("1", "x = ."),
    "accents": _row("\u0301\u0316", "x = a"),
    "accents in one": _row("\u0f73\u0f75", "x = a"),
    "accented names": _row("a\u0301\u0316 = "),
    "ligatures": _row("\ufdfa", "x = "),
    "wide letters": _row("\uff41"),
    "blank lines": _row(" \n"),
    "spaces": _row(" ", "x = 1", "+ 1"),
    "commas": _row(", "),
    "hyphens": _row("a-"),
    "backticks": _row("`a"),
    "controls": _row("\x1b\u202e"),
    "no Python": _row("$?"),
}
