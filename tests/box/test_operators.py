"""Every operation that this torch has is classified, and what is forbidden is trapped: found by going through all."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.box.operator_walk import GOLDEN

_ROOT = Path(__file__).parents[2]
# What gives only sizes, or objects that cannot be called; `set_errno` and the like touch nothing of torch's.
_HARMLESS_OF_CTYPES = {
    *("Array", "CFuncPtr", "POINTER", "Structure", "Union", "_Pointer", "_SimpleCData", "alignment", "buffer_info"),
    *("byref", "get_errno", "pointer", "resize", "set_errno", "sizeof", "ArgumentError", "_unpickle", "Py_INCREF"),
    *("Py_DECREF", "__loader__", "dlclose"),
}


@functools.cache
def _walk() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.box.operator_walk"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
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
