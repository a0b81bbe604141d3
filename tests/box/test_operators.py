"""Every operation that this torch has is classified, and what is forbidden is trapped: found by going through all."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from grader.box.traps.groups import BELOW, GROUPS
from tests.box.index_fuzz import GOLDEN as UNCHECKED
from tests.box.operator_walk import GOLDEN, takes

_ROOT = Path(__file__).parents[2]
# What gives only sizes, or objects that cannot be called; `set_errno` and the like touch nothing of torch's.
_HARMLESS_OF_CTYPES = {
    *("Array", "CFuncPtr", "POINTER", "Structure", "Union", "_Pointer", "_SimpleCData", "alignment", "buffer_info"),
    *("byref", "get_errno", "pointer", "resize", "set_errno", "sizeof", "ArgumentError", "_unpickle", "Py_INCREF"),
    *("Py_DECREF", "__loader__", "dlclose"),
}


def _output(program: str) -> str:
    done = subprocess.run([sys.executable, "-m", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@functools.cache
def _walk() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_output("tests.box.operator_walk"))
    return found


def test_every_operator_of_this_torch_is_classified() -> None:
    """A new version of torch cannot bring an operator that nobody has looked at.

    Look at what is named here: if it is ready-made attention, softmax or dropout under a name that no family has, widen
    the family in `grader/box/traps/groups.py`; then run `python -m tests.box.operator_walk --write`.
    """
    head, *lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    known = dict(line.split(" ", 1) for line in lines)
    found = _walk()["registry"]

    new = {name: found[name] for name in sorted(found) if known.get(name) != found[name]}
    assert (new, sorted(known.keys() - found.keys())) == ({}, []), f"{head}; this is {_walk()['version']}"


def test_every_overload_of_a_forbidden_operator_is_trapped() -> None:
    """Called with tensors of nine kinds: none gives anything, and each overload that has a kernel here is trapped."""
    ends = _walk()["operators"]

    assert {
        name: found for name, found in ends.items() if not {"trapped"} <= set(found) <= {"trapped", "no kernel"}
    } == {}
    assert {"aten::logcumsumexp.out", "aten::_softmax.out", "quantized::softmax"} < set(ends)


def test_no_forbidden_operator_is_in_scripts_only() -> None:
    """What TorchScript has beside the dispatcher would not meet the traps there."""
    taken = [name for name in _walk()["scripted"] if name in _walk()["operators"]]

    assert taken == []
    assert len(_walk()["scripted"]) > 500


def test_every_function_of_torch_that_says_what_is_forbidden_is_trapped() -> None:
    """References, decompositions and losses in Python, in each of their copies."""
    ends = _walk()["functions"]

    assert {name: found for name, found in ends.items() if found != "trapped"} == {}
    assert any(name.startswith("torch.masked._ops.logsumexp") for name in ends)


def test_every_part_of_a_compiler_below_the_traps_is_trapped() -> None:
    """Nothing of the tensor-expression compiler can be called or made."""
    ends = _walk()["compilers"]

    assert {name: found for name, found in ends.items() if found != "trapped"} == {}
    assert "_te.TensorExprKernel" in ends


def test_foreign_functions_are_trapped_by_every_way_to_them() -> None:
    """Whatever `_ctypes` has is trapped, or is known to call nothing; a function kept from before is trapped too."""
    ends = _walk()["foreign"]

    through = {name for name, found in ends.items() if found != "trapped"}
    assert through - _HARMLESS_OF_CTYPES == set(), {name: ends[name] for name in through - _HARMLESS_OF_CTYPES}


def test_operators_that_go_by_numbers_without_a_look_are_known() -> None:
    """A new version of torch cannot bring one that nobody has looked at; those that are called trapped are.

    Look at what is named here: trap it in `BELOW` of `grader/box/traps/groups.py` if no right answer needs it. Where
    one does, or only `torch.ops` leads to it, reading has to see it. Then say so in `tests/golden/unchecked.txt`. A
    gradient is trapped where the backward pass is; that of a loss is needed by whoever trains in a demonstration.
    """
    known = dict(line.split(": ") for line in UNCHECKED.read_text(encoding="utf-8").splitlines()[1:])
    found = json.loads(_output("tests.box.index_fuzz"))

    new = {
        name: ended
        for name, ended in found["unchecked"].items()
        if known.get(name) not in ("trapped", "read", "needed")
    }
    assert (new, found["tried"] > 500, found["later"] > 50) == ({}, True, True), found["version"]
    trapped = [name for name, state in known.items() if state == "trapped" and name.startswith("aten::")]
    assert {name for name in trapped if not any(takes(group, name) for group in (BELOW, *GROUPS.values()))} == set()


def test_no_operator_takes_sparse_nested_or_quantized_tensors() -> None:
    """Their indices and sizes may have been changed since a check; kernels that go by none of them are left."""
    ends = _walk()["layouts"]

    assert {name: found for name, found in ends.items() if found != "trapped"} == {}
    assert len(ends) > 20


def test_no_function_of_torch_behaves_like_a_forbidden_one() -> None:
    """Called by the names of its parameters, each that gives a softmax, attention or dropout is trapped."""
    found = json.loads(_output("tests.box.lookalikes"))

    assert found["through"] == {}
    assert found["tried"] > 5000
    assert {"torch._refs.softmax", "torch.masked.softmax", "torch.nn.Dropout"} < set(found["free"])
