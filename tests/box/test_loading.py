"""Loading: a whole file is taken as its author ran it, and its answers are as exact as the file lets them be."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
import torch

from grader.box.absent import StandIn
from grader.box.loading import load
from grader.box.observations import Loaded

_HEAD = "import torch\n"
_F = "def f(x):\n    return x\n"


@pytest.fixture(autouse=True)
def _as_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing loaded that draws, as in a process that runs one submission."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("matplotlib", "tqdm", "IPython")]:
        monkeypatch.delitem(sys.modules, name)


def _load(source: str, needed: str = "f", *, bare: bool = False) -> tuple[Mapping[str, Any], Loaded]:
    told: list[Loaded] = []
    namespace = load(_HEAD + source, (needed,), told.append, bare=bare)
    return namespace, told[0] if told else Loaded()


def test_a_demonstration_runs_under_torchs_own_default() -> None:
    """What works at its author's desk works here: the same dtype, and the numbers of the same seed."""
    demo = "torch.manual_seed(123)\na = torch.rand(2)\nb = a @ torch.tensor([1.0, 2.0], dtype=torch.float32)\n"
    torch.manual_seed(123)
    expected = torch.rand(2)

    namespace, loaded = _load(_F + demo)

    assert torch.equal(namespace["a"], expected)
    assert loaded == Loaded(over=True)


def test_a_bare_file_runs_without_what_its_answer_does_not_need() -> None:
    """Definitions, imports and what gives a value to a name that is read are run; what is printed or trained is not."""
    demo = "for _ in iter(int, 1):\n    pass\n"
    for source in (
        demo + _F,
        _F + "y = [1]\n" + demo,
        "S = 1\n" + demo + "def f(x):\n    return x * S\n" + demo,
        "T = {}\nT[1] = 1\n" + demo + "def f(x):\n    return x * T[1]\n",
        "def g(x):\n    return x\nif True:\n    f = g\n" + demo + "import math\n",
    ):
        namespace, loaded = _load(source, bare=True)

        assert loaded.over
        assert namespace["f"](3) == 3


@pytest.mark.parametrize("source", [_F, _F + "import math\n", "S = 1\ndef f(x):\n    return x * S\n"])
def test_a_file_that_its_answer_needs_whole_is_not_run_bare(source: str) -> None:
    """It would take as long once more."""
    assert _load(source, bare=True) == ({}, Loaded())


@pytest.mark.parametrize(
    "kept",
    [
        "THIRD = torch.tensor(1.0) / 3\ndef f(x):\n    return x * THIRD\n",
        "THIRD = (torch.tensor(1.0) / 3).item()\ndef f(x):\n    return x * THIRD\n",
        "T = {'third': [torch.tensor(1.0) / 3]}\ndef f(x):\n    return x * T['third'][0]\n",
        "def f(x, third=torch.tensor(1.0) / 3):\n    return x * third\n",
        "class C:\n    third = torch.tensor(1.0) / 3\ndef f(x):\n    return x * C.third\n",
        "L = torch.nn.Linear(1, 1, bias=False)\nL.weight.data.fill_(1).div_(3)\ndef f(x):\n    return L(x[None])[0]\n",
        "THIRD = torch.tensor(1.0) / 3\ndef f(x):\n    return x * THIRD\nassert THIRD.dtype == torch.float32\n",
    ],
)
def test_what_a_file_computes_for_its_answer_is_exact(kept: str) -> None:
    """Numbers of the file that its functions use are float64's, wherever they are kept."""
    namespace, _ = _load(kept)

    torch.set_default_dtype(torch.float64)
    try:
        got = namespace["f"](torch.ones(1, dtype=torch.float64))
    finally:
        torch.set_default_dtype(torch.float32)

    assert got.item() == 1 / 3


def test_a_file_is_run_once_where_nothing_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """A demonstration of which no function knows is not repeated, and what is repeated prints once."""
    _load(
        "import os\nos.environ['N'] = os.environ.get('N', '') + 'i'\n"
        + _F
        + "y = f(torch.ones(1))\nprint(len(os.environ.pop('N')))\n"
    )
    _load("T = torch.ones(1)\ndef f(x):\n    return x * T\nprint('twice')\n")

    assert capsys.readouterr().out == "1\ntwice\n"


def test_a_demonstration_may_raise_once_all_is_defined() -> None:
    """The error is told with its line, and the entry point is there."""
    namespace, loaded = _load(_F + "y = f(torch.ones(2))\nprint(y[7])\n")

    assert loaded.raised is not None
    assert (loaded.raised.type, loaded.raised.line) == ("IndexError", 5)
    assert namespace["f"](3) == 3


@pytest.mark.parametrize(
    "source",
    [
        "1 / 0\n" + _F,
        _F + "1 / 0\ndef g(): ...\n",
        _F + "1 / 0\nfrom no_such.thing import check\ncheck('f')\nclass G(check.Case): ...\n",
        "def g(x):\n    return x\ny = [1]\nprint(y[7])\nif True:\n    y[8]\nf = g\n",
        _F + "1 / 0; print(get_ipython())\n",
        "S = 1; [][1]\ndef f(x):\n    return x * S\n",  # the statement that raised is the second on its line
        _F + "import math; [][1]\n",
        _F + "y = 1 / 0\ndef show():\n    print(y)\n",  # only a demonstration reads it
        _F + "for n in (1, 2):\n    assert all(n > 1 for _ in [0])\n",
        "x = 1\n[x / 0 for x in [1]]\n" + _F + "def g():\n    return x\n",
    ],
)
def test_a_file_goes_on_below_a_demonstration_that_raised(source: str) -> None:
    """What is defined below it counts, as in a notebook; the first error is told."""
    namespace, loaded = _load(source)

    assert loaded.raised is not None
    assert loaded.raised.type in ("ZeroDivisionError", "IndexError", "AssertionError", "SystemExit")
    assert namespace["f"](3) == 3


@pytest.mark.parametrize("end", ["1 / 0\n", "import sys\nsys.exit()\n", "raise RuntimeError('enough')\n"])
def test_nothing_below_is_run_that_the_answer_does_not_need(end: str) -> None:
    """A long training is not begun, nor does a version below a file's own end take the place of the one above it."""
    below = "while True: ...\n" if end.startswith("1") else "def f(x):\n    return -x\n"

    namespace, loaded = _load(_F + end + below)

    assert loaded.raised is not None
    assert namespace["f"](3) == 3


def test_a_module_that_is_imported_once_more_is_nothing_new() -> None:
    """Each cell of a notebook may begin with the same imports; what stands between them is not run for their sake."""
    namespace, _ = _load("def f(x):\n    return torch.abs(x)\n1 / 0\nwhile True: ...\nimport torch\n")

    assert namespace["f"](torch.tensor(-3)) == 3


def test_a_file_goes_on_under_its_own_future() -> None:
    """Annotations below a demonstration that raised are not evaluated where the file asks for that at its top."""
    source = "from __future__ import annotations\nassert 1 == 2, 'no'\ndef f(x: Undefined):\n    return x\n"

    assert load(source, ("f",), lambda _: None)["f"](3) == 3


def test_what_is_below_a_demonstration_that_raised_is_exact_too() -> None:
    """A table that is computed there is computed in float64, and what is printed there comes once."""
    namespace, loaded = _load("1 / 0\nT = torch.ones(2) / 3\n[][1]\ndef f(x):\n    return x + T\n")

    assert loaded.raised is not None
    assert namespace["T"].dtype == torch.float64


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("f = 1 / 0\n", ZeroDivisionError),  # the entry point never comes
        ("1 / 0\n@int\ndef f(x): ...\n", ZeroDivisionError),  # the first error is told, as Python would
        ("import sys\nsys.exit('no GPU')\n" + _F, SystemExit),  # the file ends above its entry point
        ("raise RuntimeError('unfinished')\n" + _F, RuntimeError),  # as above
        (_F + "C = {}\nC['a'] = 1 / 0\ndef f(x):\n    return C\n", ZeroDivisionError),  # a part of what it uses
        (_F + "C = f\nC.scale = 1 / 0\nf = C\n", ZeroDivisionError),  # as above
        ("D = 1\ndef f(x):\n    return 'D' in globals() and D\ndel D, E\n", NameError),
        (_F + "@f\n@int\ndef g(): ...\n", TypeError),  # a definition raises
        ("def f(x):\n    return x + T\nT = 1 / 0\n", ZeroDivisionError),  # what the answer uses is never there
        (_F + "import no_such.thing as f2\nfrom torch import no_such_name\n", ImportError),
        (_F + "def g(:\n", SyntaxError),
    ],
)
def test_an_error_of_a_definition_is_the_files(source: str, error: type[Exception]) -> None:
    """What defines something, or gives a name that the answer uses, is no demonstration."""
    with pytest.raises(error):
        _load(source)


_HEADS = """
import matplotlib.pyplot as plt, seaborn as sns, pandas as pd, wandb
import plotly.graph_objects as go, torchvision.transforms as T
from torch.utils.tensorboard import SummaryWriter
from tqdm.auto import tqdm, trange
from IPython.display import display, HTML
from transformers import AutoTokenizer
from helper_of_mine import *
import pytorch_lightning as pl
"""
_DRAWN = """
fig, ax = plt.subplots()
fig, (left, right) = plt.subplots(1, 2, figsize=(4, 2))
fig, axes = plt.subplots(nrows=2, ncols=3)
for one in axes.flat:
    one.imshow(torch.ones(2, 2), cmap="viridis")
axes[0][1].set_title(f"{len(axes)}")
plt.rcParams["figure.dpi"] = 90
with sns.axes_style("white"):
    display(HTML(pd.DataFrame({"a": [1]}).to_html()))
seen = [i for i in tqdm([4, 5])] + list(trange(2))
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
@wandb.watch
def f(x: "int") -> go.Figure | None:
    return x
"""


def test_stand_ins_take_all_that_a_notebook_draws_and_logs() -> None:
    """Figures, axes, progress, base classes, decorators and annotations; each missing module is told."""
    namespace, loaded = _load(_HEADS + _DRAWN)

    assert namespace["seen"] == [4, 5, 0, 1]
    assert isinstance(namespace["Model"](), torch.nn.Module)
    assert namespace["f"](3) == 3
    assert {"matplotlib", "wandb", "helper_of_mine", "torch.utils.tensorboard"} <= set(loaded.missing)


@pytest.mark.parametrize(
    "use",
    [
        "p.a + 1",
        "torch.ones(2) @ p.a",
        "torch.softmax(p.a(), -1)",
        "bool(p.a)",
        "list(p.a)",
        "len(p.a())",
        "p.a(x) * x",
    ],
)
def test_a_stand_in_has_no_value(use: str) -> None:
    """Whoever takes one for a number, a tensor or a list is told which package is not here."""
    namespace, _ = _load(f"import not_here_at_all as p\ndef f(x):\n    return {use}\n")

    with pytest.raises(ModuleNotFoundError, match="`not_here_at_all` is not available"):
        namespace["f"](torch.ones(2))


def test_a_file_that_cares_for_a_missing_module_gets_none() -> None:
    """Where the error is caught, it comes."""
    source = "try:\n    import not_here_at_all as p\nexcept ImportError:\n    p = None\nimport nor_this_one\n" + _F

    namespace, loaded = _load(source)

    assert namespace["p"] is None
    assert loaded.missing == ("nor_this_one",)


def test_a_part_that_a_loaded_package_lacks_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tqdm, which torch has loaded, no further file can be read in the sandbox: `tqdm.auto` is a stand-in there."""
    loaded = ModuleType("tqdm")
    loaded.__path__ = []
    monkeypatch.setitem(sys.modules, "tqdm", loaded)

    namespace, told = _load("from tqdm.auto import trange\nseen = list(trange(2))\n" + _F)

    assert namespace["seen"] == [0, 1]
    assert told.missing == ("tqdm",)
    assert not hasattr(loaded, "auto")


def test_no_stand_in_is_made_of_what_is_ours_or_loaded() -> None:
    """Nothing answers to the name of the grader where that is withdrawn, and the finder is gone after the loading."""
    code = (
        "import sys; from grader.box.loading import load\n"
        "sys.modules['grader'] = None; told = []\n"
        "try: load('def f(): ...\\nimport nothing_here, grader\\n', ('f',), told.append)\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
        "print([type(one).__name__ for one in sys.meta_path if type(one).__name__ == 'StandIns'])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "grader\n[]\n"
    assert isinstance(StandIn("a").b, StandIn)


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize(
    "main",
    [
        "if __name__ == '__main__':\n    seen = 1\n",
        "if '__main__' == __name__:\n    seen = 1\n",
        "if __name__ == '__ma' 'in__':\n    seen = 1\n",
        "if len(__name__) and __name__ == '__main__':\n    seen = 1\n",
        "if not __name__:\n    pass\nelif __name__ == '__main__':\n    seen = 1\n",
        "for _ in range(1):\n    if __name__ == '__main__':\n        seen = 1\n",
        "def g():\n    global seen\n    if __name__ == '__main__':\n        seen = 1\ng()\n",
    ],
)
def test_a_demonstration_does_not_run_whatever_the_name_of_its_module_is(main: str, bare: bool) -> None:
    """Who reads a submission passes over it, so it must not do anything where a file has changed that name."""
    source = "import sys\n" + _F + "S = setattr(sys.modules['submission'], '__name__', '__main__')\n" + main + "a = S\n"

    namespace, _ = _load(source, bare=bare)

    assert namespace["f"](3) == 3
    assert "seen" not in namespace


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("source", ["def f(:\n", "\0", "raise SystemExit\n", "import missing\n", "import os\n" + _F])
def test_the_finder_of_stand_ins_is_gone_however_a_loading_ends(source: str, bare: bool) -> None:
    """Else a program that has loaded one broken file would get stand-ins for its own matplotlib."""
    before = list(sys.meta_path)

    with contextlib.suppress(BaseException):
        load(source, ("f",), lambda _: None, bare=bare)

    assert sys.meta_path == before
