"""Measures the largest tensor of a forward pass, at torch's dispatcher, below the student's code.

Covered: every tensor that a torch operation returns, each counted by the storage behind it, and what happens inside of
custom autograd functions, `vmap`, checkpoints and scripts. An input or an output counts like any other tensor once an
operation returns it or a view of it, so a bound has to lie above them. Not covered: what one operation needs inside of
its own kernel, other threads, and memory outside of torch (NumPy, lists), which only the process's peak shows. Code in
this process can undo anything in this process; a gauge that was taken away notices, one that was put back does not.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _pop_mode, _push_mode
from torch.utils._pytree import tree_leaves

_COMPRESSED_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COMPRESSED_COLUMNS = (torch.sparse_csc, torch.sparse_bsc)


class Gauge(TorchDispatchMode):
    """Notes the largest storage, in elements, among what every operation within its block returns.

    Attributes:
        largest: that number so far; None once the block has ended and the gauge was no longer in place.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.largest: int | None = 0
        self._so_far = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return (
            False  # the wrapper that it asks for imports all of torch._dynamo, two seconds, and slows every operation
        )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and look at what it returns."""
        result = func(*args, **kwargs) if kwargs else func(*args)
        for value in (result,) if isinstance(result, Tensor) else tree_leaves(result):
            if isinstance(value, Tensor) and (size := elements(value)) > self._so_far:
                self._so_far = self.largest = size
        return result

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block; modes that were left behind above this one go with it."""
        while (top := _get_current_dispatch_mode()) is not None and top is not self:
            _pop_mode()
        if top is None:
            self.largest = None
            _push_mode(self)
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # as above


def elements(value: Tensor) -> int:
    """Return how many elements the storage behind a tensor has room for: all of them where it is a small view."""
    if value.layout == torch.strided:
        return value.untyped_storage().nbytes() // value.element_size()
    if value.layout == torch.sparse_coo:
        parts = [value._indices(), value._values()]
    elif value.layout in _COMPRESSED_ROWS:
        parts = [value.crow_indices(), value.col_indices(), value.values()]
    elif value.layout in _COMPRESSED_COLUMNS:
        parts = [value.ccol_indices(), value.row_indices(), value.values()]
    else:  # a nested one, or one laid out for a library: it has no storage to ask
        return value.numel()
    return max(elements(part) for part in parts)
