"""Reading a source for ready-made operations: what is plainly there is seen, and honest code is never accused."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from grader.box.observations import Blame, CallSeen, Observations, Raised, Stage, TrapHit
from grader.box.plan import Entry, Kind, Plan
from grader.box.traps.groups import GROUPS
from grader.exercise.catalog import ROOT, Catalog
from grader.judge import inspection
from grader.judge.inspection import MOST, find_clues, read
from grader.judge.inspection.names import by_its_home
from grader.judge.inspection.unusual import Forbidden
from grader.judge.report import Clue, Flag, Sight, flag_of

_PLAN = Plan(Entry("attend", Kind.FUNCTION, ("q",)), (), (), ("attention",))
_RAN = Observations({"small/base": CallSeen("small/base")})

_CERTAIN = {
    "plain": "import torch.nn.functional as F\ndef attend(q):\n    return F.SDPA(q, q, q)",
    "renamed": "from torch.nn.functional import SDPA as f\ndef attend(q):\n    return f(q, q, q)",
    "everything": "from torch.nn.functional import *\ndef attend(q):\n    return SDPA(q, q, q)",
    "by getattr": ("import torch.nn.functional as F\ndef attend(q):\n    return getattr(F, 'SDPA')(q, q, q)"),
    "as a default": ("import torch.nn.functional as F\n\ndef attend(q, f=F.SDPA):\n    return f(q, q, q)"),
    "by a helper": (
        "import torch\n\ndef helper(q): return torch._C._nn.SDPA(q, q, q)\ndef attend(q):\n    return helper(q)"
    ),
    "as a base": (
        "from torch import nn\n\nclass Mine(nn.MultiheadAttention): pass\ndef attend(q): return Mine(4, 2)(q, q, q)"
    ),
    "under another name": ("import torch.nn.functional as F\n\nfused = F.SDPA\ndef attend(q): return fused(q, q, q)"),
}
_HONEST = {
    "a comment": "def attend(q):\n    # unlike F.SDPA\n    return q",
    "a docstring": 'def attend(q):\n    """Do what F.SDPA does."""\n    return q',
    "a message": "def attend(q):\n    if q is None:\n        raise ValueError('SDPA needs q')\n    return q",
    "a demonstration": (
        "import torch.nn.functional as F\ndef attend(q):\n    return q\n"
        "if __name__ == '__main__':\n    print(F.SDPA(1, 2, 3))"
    ),
    "a test": (
        "import torch.nn.functional as F\ndef attend(q):\n    return q\n"
        "def test_against_torch():\n    assert attend(1) == F.SDPA(1, 1, 1)"
    ),
    "an import that is not used": "from torch.nn.functional import SDPA\ndef attend(q): return q",
    "a name of one's own": ("def SDPA(q): return q\ndef attend(q): return SDPA(q)"),
    "a method of one's own": (
        "class MultiheadAttention:\n    def go(self, q): return q\ndef attend(q): return MultiheadAttention().go(q)"
    ),
    "a mode": "from torch import nn\ndef attend(q):\n    return nn.Linear(2, 2).eval()(q)",
    "what is allowed": "import torch\ndef attend(q):\n    return torch.softmax(q, -1)",
}


def _whole(source: str) -> str:
    return source.replace("SDPA", "scaled_dot_product_attention")


@pytest.mark.parametrize("source", _CERTAIN.values(), ids=_CERTAIN.keys())
def test_a_forbidden_operation_is_named_with_its_line(source: str) -> None:
    """However it is imported, and wherever it is kept."""
    clues = read(_whole(source), ("attention",), ("attend",))

    assert {clue.sight for clue in clues} == {Sight.READ}
    assert 3 in {clue.line for clue in clues}
    assert all(clue.what.startswith("torch.") for clue in clues)


@pytest.mark.parametrize("source", _HONEST.values(), ids=_HONEST.keys())
def test_honest_code_has_no_clue(source: str) -> None:
    """To mention, to compare and to name one's own things is no reaching."""
    assert read(_whole(source), ("attention",), ("attend",)) == ()


def test_no_example_has_a_clue(catalog: Catalog) -> None:
    """All answers kept in exercises/*/examples, the references and the starters, under their exercise's own rules."""
    accused = []
    for name, exercise in catalog.items():
        spec = exercise.spec
        entries = (spec.entry.name, *(part.entry.name for part in spec.parts.values()))
        answers = sorted((exercise.folder / "examples").glob("*.py"))
        for path in [*answers, ROOT / "reference" / f"{name}.py", exercise.folder / "starter.py"]:
            if clues := read(path.read_text(encoding="utf-8"), spec.forbidden, entries):
                accused.append((path.name, clues))

    assert accused == []


def test_softmax_is_a_tensors_method_unless_it_is_ones_own() -> None:
    """`x.softmax(-1)` is torch's; `self.softmax(x)` and a method defined in the file are not."""
    torchs = "def softmax(x):\n    return x.softmax(-1)"
    own = "class A:\n    def softmax(self, x): return x\ndef softmax(x):\n    return A().softmax(x)"

    assert read(torchs, ("softmax",), ("softmax",)) == (Clue(Sight.READ, "torch.Tensor.softmax", 2, "softmax"),)
    assert read(own, ("softmax",), ("softmax",)) == ()


def test_nothing_is_read_where_nothing_is_forbidden() -> None:
    """An exercise that allows everything has no clues."""
    assert read(_whole(_CERTAIN["plain"]), (), ("attend",)) == ()


@pytest.mark.parametrize("text", ["def f(:", "x = " + "(" * 300, "\0"])
def test_a_text_that_is_no_program_is_passed_over(text: str) -> None:
    """Whatever a parser says of it."""
    assert read(f"import ctypes\n{text}", ("attention",), ("attend",)) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" + ".a" * 30_000, "too long"),
        ("- " * 20_000 + "1", "too long"),
        ("x = a" + "\u0301\u0316" * 100, "too long"),
        ("x = f'" + "{q}" * 3000 + "'", "too long"),
        ("x" + ".a" * 4000, "too deeply nested"),
        ("x" + "[0]" * 500, "too deeply nested"),
    ],
)
def test_what_is_not_read_to_its_end_is_said(text: str, why: str) -> None:
    """Padding that Python's parser or we would take long for hides nothing: a person is asked to look."""
    clues = read(f"import ctypes\n{text}", ("attention",), ("attend",))

    assert [why in clue.what for clue in clues if clue.line is None] == [True]


def test_wide_letters_are_read_as_python_reads_them() -> None:
    """Python normalizes names before it looks them up, so the words of the text alone would miss this one."""
    source = "import torch.nn.functional as F\ndef attend(q):\n    return F.SDPA(q, q, q)"
    wide = _whole(source).replace("scaled", "\uff53caled")

    assert [clue.what for clue in read(wide, ("attention",), ("attend",))] == [
        "torch.nn.functional.scaled_dot_product_attention"
    ]


def test_a_source_that_the_box_could_not_compile_is_not_read() -> None:
    """No parser of ours meets what killed the box, or what it refused."""
    source = "import ctypes\ndef attend(q): return q"
    refused = Observations(loading=Raised(Stage.LOAD, Blame.ERROR, "RecursionError", ""))
    failed = Observations(loading=Raised(Stage.LOAD, Blame.ERROR, "ImportError", ""))

    assert find_clues(source, _PLAN, Observations()) == find_clues(source, _PLAN, refused) == ()
    assert find_clues(source, _PLAN, failed) == (Clue(Sight.UNUSUAL, "ctypes", 1),)


def test_a_file_too_long_to_be_read_says_so() -> None:
    """A person has to look; it is not accused of anything else."""
    source = "# " + "x" * (65 << 10) + "\nimport ctypes\ndef attend(q): return q"

    assert [clue.what for clue in find_clues(source, _PLAN, _RAN)] == ["a file that is too long to inspect"]


def test_a_file_of_too_many_expressions_says_so() -> None:
    """To go through all of them would keep others waiting; what was found before counts."""
    source = "import ctypes\ndef attend(q):\n" + ("    q" + "--q" * 30 + "\n") * 130

    assert [clue.what for clue in read(source, ("attention",), ("attend",))] == [
        "a file that is too long to inspect",
        "ctypes",
    ]


def test_what_was_trapped_is_not_told_twice() -> None:
    """One line, one clue; names from the box are cleaned, and a report holds no flood of them."""
    source = _whole(_CERTAIN["plain"])
    trap_hits = [TrapHit("torch.x\u202e", 3, "attend"), *(TrapHit(f"torch.y{n}", n + 10) for n in range(50))]

    clues = find_clues(source, _PLAN, Observations(_RAN.calls, trap_hits=tuple(trap_hits)))

    assert clues[0] == Clue(Sight.TRAPPED, "torch.x<U+202E>", 3, "attend")
    assert [clue.sight for clue in clues] == [Sight.TRAPPED] * MOST


def test_several_threads_read_at_once() -> None:
    """Two slots of a grading process do, and Python 3.11 does not keep their syntax trees apart by itself.

    It fails for one text in many hundreds, so this finds a missing lock in some runs only.
    """
    text = (ROOT / "reference" / "multi_head_attention_causal.py").read_text(encoding="utf-8")
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: find_clues(text, _PLAN, _RAN), range(400))) == {()}


_ROW = ", ".join(f"0.{n}" for n in range(120))
_TABLES = {
    "numbers": f"TABLE = [{_ROW}]",
    "over many lines": "TABLE = [\n" + _ROW.replace(", ", ",\n") + "\n]",
    "bytes": f"TABLE = {bytes(range(200))!r}",
    "base64": "TABLE = '" + "aGVsbG8gd29ybGQ" * 40 + "'",
    "base64 in pieces": "TABLE = (\n" + "'aGVsbG8gd29ybGQxNzE4MTkyMDIxMjIyMzI0MjUyNjI3'\n" * 12 + ")",
    "digits": "TABLE = '" + " ".join(f"{n:03}" for n in range(200)) + "'",
    "a docstring": '"""' + " ".join(f"{n:03}" for n in range(200)) + '"""',
    "many statements": "TABLE = []\n" + "\n".join(f"TABLE.append(0.{n})" for n in range(320)),
}
_NO_TABLES = {
    "a small table": "TABLE = [" + ", ".join(f"0.{n}" for n in range(64)) + "]",
    "rules": "\n".join(f"print('{sign * 80}')" for sign in "=-*#" * 3),
    "prose": "'" + "to be or not to be, " * 200 + "'",
    "prose that does not part words": "'" + "注意力机制" * 200 + "'",
    "numbers in a comment": f"# {_ROW}",
    "a program": "\n".join(f"def f{n}(x): return x.reshape(2, 3)" for n in range(40)),
}


@pytest.mark.parametrize("name", _TABLES)
def test_a_large_table_is_worth_a_look(name: str) -> None:
    """Numbers that are brought along are told with their line, or that of the largest part, and their count."""
    clues = read(f"\n\n{_TABLES[name]}\ndef attend(q):\n    return q\n", ("attention",), ("attend",))

    assert [(clue.sight, clue.line) for clue in clues] == [(Sight.UNUSUAL, 4 if name == "many statements" else 3)]
    assert int("".join(filter(str.isdigit, clues[0].what))) >= 100


@pytest.mark.parametrize("name", _NO_TABLES)
def test_what_is_no_table_has_no_clue(name: str) -> None:
    """Nobody has to look at text, decoration, or a handful of numbers."""
    assert read(f"{_NO_TABLES[name]}\ndef attend(q):\n    return q\n", ("attention",), ("attend",)) == ()


def test_a_flag_is_the_weightiest_of_its_clues() -> None:
    """What reaches for a forbidden operation outweighs what is merely unusual."""
    unusual, seen = Clue(Sight.UNUSUAL, "ctypes"), Clue(Sight.READ, "torch.softmax")

    assert [flag_of(clues) for clues in ((), (unusual,), (unusual, seen))] == [Flag.NONE, Flag.LOOK, Flag.READY_MADE]


def test_a_trap_that_sprang_ends_the_call_that_follows_it() -> None:
    """Touches come before their call; one while loading belongs to none, and what was only noticed ends nothing."""
    touch, early = TrapHit("torch.softmax", 4, "f"), TrapHit("torch.softmax", 1, "", loading=True)

    notice = TrapHit("tb_frame", 4, "f", noticed=True)

    seen = Observations.of([early, CallSeen("a"), touch, touch, CallSeen("b"), notice, CallSeen("c")])

    assert seen.trap_hits == (early, touch, touch, notice)
    assert [call.raised.blame if call.raised else None for call in seen.calls.values()] == [None, Blame.FORBIDDEN, None]
    assert seen.calls["b"].raised is not None
    assert seen.calls["b"].raised.line == 4


def test_no_object_of_a_library_breaks_the_reading() -> None:
    """Some raise where they are compared, as the keysets of torch do: one name of them had hidden every clue."""
    paths = [
        f"{name}.{inner}"
        for name, module in sorted(sys.modules.items())
        if isinstance(module, ModuleType) and not name.startswith(("tests", "grader", "_pytest", "pytest"))
        for inner in list(vars(module))
    ]
    for path in paths:
        by_its_home.__wrapped__(path)

    assert "torch._C._after_autograd_keyset" in paths
    assert len(paths) > 50_000


def test_a_reading_that_breaks_is_a_clue_and_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trap has seen is told whatever becomes of the source."""

    def broken(*_: object) -> None:
        raise TypeError("incompatible function arguments")

    monkeypatch.setattr(inspection, "reached", broken)
    hit = TrapHit("torch.softmax", 3, "attend")
    clues = find_clues("import ctypes  # once", _PLAN, Observations(_RAN.calls, {}, trap_hits=(hit,)))

    assert [clue.sight for clue in clues] == [Sight.TRAPPED, Sight.UNUSUAL]
    assert clues[1].what == "code that could not be inspected"


def test_no_module_of_torch_is_taken_for_a_forbidden_one_by_its_last_name() -> None:
    """`scipy.special` is forbidden; `torch.special.expm1` is not, and what is in `torch.nn.modules.loss` neither."""
    forbidden = Forbidden.of(tuple(GROUPS))
    modules = [name for name in sys.modules if name.startswith("torch.") and "._" not in name]
    taken = {name for name in modules if forbidden._has(f"{name}.a_name_that_nobody_has")}

    by_last = {name for name in taken if not any(f"{name}.".startswith(f"{path}.") for path in forbidden.paths)}
    assert {name for name in by_last if name.rpartition(".")[2] != "dropout"} == set()  # there is nothing else in those
    assert {"torch.special", "torch.nn.modules.loss"} < set(modules)
