"""The syntax of a newer Python: whoever writes it for an older one is told both versions, and nobody else is."""

from __future__ import annotations

import sys

import pytest

from grader.box.faults import describe
from grader.box.loading import compiled
from grader.box.observations import Stage


def _told(source: str) -> str:
    """Return what is said of the error that `source` ends in."""
    try:
        exec(compiled(source), {})
    except Exception as error:  # noqa: BLE001  # whatever it ends in
        return describe(error, Stage.LOAD).message
    return ""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a newer Python takes it")
@pytest.mark.parametrize(
    "source",
    [
        'cfg = {\'d\': 8}\nprint(f"width {cfg["d"]}")\n',
        "print(f'{', '.join(names)}')\n",
        "print(f\"{'\\n'.join(names)}\")\n",
        "type Pair = tuple[int, int]\n",
        "type Pair[T] = tuple[T, T]\n",
        "def first[T](x: list[T]) -> T:\n    return x[0]\n",
        "class Box[T]:\n    pass\n",
    ],
)
def test_what_is_of_a_newer_python_is_told_so(source: str) -> None:
    """Both versions are named."""
    own = ".".join(map(str, sys.version_info[:2]))

    assert f"new in Python 3.12, and your file is run with Python {own}" in _told(source)


@pytest.mark.parametrize(
    "source",
    [
        "x = f'{a'\n",
        "x = f'{a b}'\n",
        "def f(x:\n    pass\n",
        "def f[0:\n    pass\n",
        "type = = 3\n",
        "x = (1,\n",
        "get['x' 3]\n",
    ],
)
def test_other_mistakes_are_not_put_down_to_python(source: str) -> None:
    """A typing error is one in every version."""
    assert _told(source)
    assert "new in Python" not in _told(source)


def test_no_message_shows_where_python_is_installed() -> None:
    """Python names the file of the module in which a name is missing."""
    assert _told("from math import nothing\nfrom typing import nothing\n").startswith("cannot import name 'nothing'")
    assert "/" not in _told("from typing import nothing\n")
    assert "/" not in _told("from torch import nothing\n")
