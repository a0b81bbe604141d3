"""torch's classes as they were before a submission was loaded, for code of ours that notes facts beside it.

A submission may replace what it likes in its process: `torch.Tensor.std = …` answers to our code as well. Within
`pristine()`, the methods of torch's classes are those from before, and no mode of `torch.overrides` is asked. Code of
the submission that runs in there, a property of its module for one, finds the same. What it replaced is put back then.
Not covered: functions in the modules of torch, which our code takes by name when it is imported, and Python's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

_CLASSES = (Tensor, nn.Parameter, nn.Module, torch.UntypedStorage)
_BEFORE = tuple((kind, dict(vars(kind)), [*map(id, vars(kind).values())]) for kind in _CLASSES)
_NEITHER_MODES_NOR_SUBCLASSES = torch._C.DisableTorchFunction
_ABSENT: Any = object()


@contextmanager
def pristine() -> Iterator[None]:
    """Have torch's classes as they were for a moment."""
    replaced = list(_replaced())
    for kind, name, _, before in replaced:
        _put(kind, name, before)
    try:
        with _NEITHER_MODES_NOR_SUBCLASSES():
            yield
    finally:
        for kind, name, value, _ in replaced:
            _put(kind, name, value)


def _replaced() -> Iterator[tuple[type, str, Any, Any]]:
    """Yield what is not as it was: the class, the name, what is there now, and what was before."""
    for kind, before, identities in _BEFORE:
        now = vars(kind)
        if [*map(id, now.values())] == identities and now.keys() == before.keys():  # compared without Python code
            continue
        for name in now.keys() | before.keys():
            if (value := now.get(name, _ABSENT)) is not (old := before.get(name, _ABSENT)):
                yield kind, name, value, old


def _put(kind: type, name: str, value: Any) -> None:
    if value is _ABSENT:
        delattr(kind, name)
    else:
        setattr(kind, name, value)
