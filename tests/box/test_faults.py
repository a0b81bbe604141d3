"""What a newer Python has: whoever writes it for an older one is told both versions, and nobody else is."""

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
        "from typing import override\n",
        "import itertools\nitertools.batched([1], 1)\n",
        "from math import sumprod\n",
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
        "from typing import overide\n",
        "import math\nmath.sunprod([1], [1])\n",
        "get['x' 3]\n",
        "raise ValueError(\"cannot import name 'override' from 'typing'\")\n",
    ],
)
def test_other_mistakes_are_not_put_down_to_python(source: str) -> None:
    """A typing error is one in every version."""
    assert _told(source)
    assert "new in Python" not in _told(source)


def test_the_version_is_that_of_the_python_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python has the name and it is missing all the same, the cause is another one."""
    error = ImportError("cannot import name 'override' from 'typing'", name="typing")
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    assert describe(error, Stage.LOAD).message.endswith("run with Python 3.10; write what works there")
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    assert describe(error, Stage.LOAD).message == "cannot import name 'override' from 'typing'"


def test_no_message_shows_where_python_is_installed() -> None:
    """Python names the file of the module in which a name is missing."""
    assert _told("from math import nothing\nfrom typing import nothing\n").startswith("cannot import name 'nothing'")
    assert "/" not in _told("from typing import nothing\n")
    assert "/" not in _told("from torch import nothing\n")
