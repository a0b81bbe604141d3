"""Notebooks and what IPython adds to Python: a pasted notebook is graded as its code, and told of by its cells."""

from __future__ import annotations

import json

import pytest

from grader.box.inline import InlineBox
from grader.errors import Rejected
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import Clue, Report, Sight
from grader.judge.source import clues_in_cells, python_of, skipped_magic

_SOFTMAX = (
    "def softmax(x, dim=-1):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
)


def _notebook(*cells: str | list[str], kind: str = "code") -> str:
    return json.dumps(
        {"cells": [{"cell_type": kind, "source": cell, "outputs": None} for cell in cells], "metadata": {}}
    )


def _grade(text: str) -> Report:
    return grade(read_exercise(ROOT / "exercises" / "softmax", ROOT), text, seed=0, box=InlineBox())


def test_a_notebook_earns_what_its_code_earns() -> None:
    """Cells are joined in order, be they strings or lists of lines; commands do nothing and are told."""
    cells = [
        "%matplotlib inline\n!pip install torch\n",
        ["import torch\n", "x = 1"],
        _SOFTMAX,
        "%time y = softmax(torch.ones(2))",
    ]

    report = _grade(_notebook(*cells, "%%bash\nls | wc ("))

    assert report.score == 100
    assert report.advice[0].startswith("2 IPython lines")


def test_a_later_cell_may_import_from_the_future() -> None:
    """IPython takes that in any cell; the lines of the cells stay as they are told."""
    future = "from __future__ import annotations  # for types\n"

    right = _grade(_notebook("import torch", future + _SOFTMAX))
    wrong = _grade(_notebook("import torch", future + "z = y\n" + _SOFTMAX.replace("return", "z; return")))

    assert right.score == 100
    assert "line 2 of cell 2" in wrong.reason


def test_an_error_is_told_by_its_cell() -> None:
    """Line 2 of the third cell is called so, though text cells are counted and joined away."""
    book = json.loads(_notebook("import torch", "words", "x = 1\ny = z\n" + _SOFTMAX.replace("return", "y; return")))
    book["cells"][1]["cell_type"] = "markdown"

    report = _grade(json.dumps(book))

    assert "line 2 of cell 3" in report.reason
    assert clues_in_cells((Clue(Sight.READ, "F.softmax", 5),), python_of(json.dumps(book)))[0].text.startswith(
        "cell 3, line 2"
    )


@pytest.mark.parametrize("text", ['{"cells": [', '{"cells": 3}', _notebook("words", kind="markdown"), _notebook("  ")])
def test_what_is_no_notebook_is_told_so(text: str) -> None:
    """A torn one, one without cells, and one without code."""
    with pytest.raises(Rejected, match="notebook"):
        python_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = (7\n  % 4)\n",
        's = """\n%d\n!no\n"""\n',
        "x = 7 \\\n  % 4\n",
        "x = {'a': 1,\n !r: 2}\n",
        "# %% cell\n",
        "y = f'{x!r}'\n",
    ],
)
def test_signs_that_are_pythons_own_stay(text: str) -> None:
    """In brackets, in strings and behind a backslash a line may begin with them."""
    assert python_of(text) == text
    assert skipped_magic(python_of(text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "%matplotlib inline\nx = 1\n",
        "def f():\n    %pdb on\n",
        "!ls (\nx = [1,\n 2]\n",
        "!a \\\n  b 'c\nx = 1\n",
        "x = 1\n!ls",
        "%time x = 1",
    ],
)
def test_commands_leave_python_that_compiles(text: str) -> None:
    """Whatever stands in them, and as many lines as before."""
    python = python_of(text)

    compile(python, "it", "exec")
    assert python.count("\n") == text.count("\n")


def test_what_nbconvert_makes_of_a_notebook_is_graded() -> None:
    """Its commands do nothing, questions about the shell are answered with no, a packed cell is unpacked."""
    packed = f"get_ipython().run_cell_magic('time', '', {('%matplotlib inline' + chr(10) + _SOFTMAX)!r})"
    lines = [
        "# In[1]:",
        "get_ipython().run_line_magic('matplotlib', 'inline')",
        "get_ipython().system('pip install torch')",
        "get_ipython().run_cell_magic('bash', '', 'ls | wc (\\n')",
        "assert 'google.colab' not in str(get_ipython()) and not get_ipython()",
        "files = get_ipython().getoutput('ls')",
        packed,
    ]

    report = _grade("\n".join(lines))

    assert report.score == 100
    assert any(remark.startswith("`get_ipython`: not available") for remark in report.advice)
    assert any(remark.startswith("3 IPython lines") for remark in report.advice)


def test_questions_to_ipython_do_nothing() -> None:
    """`name?` describes a name in a notebook; inside of a string it is text. `display` is there without an import."""
    shown = _SOFTMAX.replace("    e =", "    'softmax?\\n'\n    '''\nsoftmax?\n'''\n    display(x.shape)\n    e =")

    report = _grade(f"import torch\n{shown}\nsoftmax?\nsoftmax??\n?torch.exp\ntorch.*load*?\ndisplay(softmax)")

    assert report.score == 100
    assert [remark.partition(":")[0] for remark in report.advice] == ["`display`"]


def test_a_file_that_finds_no_notebook_by_itself_goes_its_own_way() -> None:
    """Where the error is caught there is no stand-in."""
    report = _grade(f"try:\n    get_ipython()\nexcept NameError:\n    seen = 1\nassert seen\n{_SOFTMAX}")

    assert (report.score, report.advice) == (100, ())


@pytest.mark.parametrize("code", ["code", "f'x'", "(((((", r"'\x'", r"'\N{no such}'", "'a', 'b'", "'" + "a"])
def test_a_call_that_nbconvert_has_not_written_stays(code: str) -> None:
    """Where what is packed is not written out, nothing is known of it."""
    text = f"get_ipython().run_cell_magic('time', '', {code})\n"

    assert python_of(text) == text


@pytest.mark.parametrize("code", ["x = 'a'", 'x = "a\'b"', "é = '\\n'\n\tλ = 1", "한 = '\\\\'", "'" * 3])
def test_a_cell_that_nbconvert_has_packed_comes_back_to_the_letter(code: str) -> None:
    """With its quotes, backslashes and letters of all kinds."""
    assert python_of(f"get_ipython().run_cell_magic('time', '', {code!r})\n") == python_of(f"%%time\n{code}\n")
