"""Seeing: only plain tensors of the announced shape count; whatever else comes is named for what it is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from grader.box.observations import Presence
from grader.box.observe import see, see_gradient
from grader.box.plan import TensorSpec

_SLOT = TensorSpec("output:y", (), (2, 3))


class _Liar(torch.Tensor):
    """A tensor that claims to equal everything."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return True


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "None"),
        ([1, 2], "a list of 2"),
        (3.5, "a float"),
        (_Liar(), "a _Liar"),
        (torch.eye(2).to_sparse(), "a torch.sparse_coo tensor on cpu"),
        (torch.empty(2, 3, device="meta"), "a torch.strided tensor on meta"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_plain_tensor_is_named(value: Any, what: str) -> None:
    """Nothing is asked of a stranger but its type."""
    seen = see(value, _SLOT)

    assert (seen.presence, seen.what, seen.tensor) == (Presence.OTHER, what, None)


@pytest.mark.parametrize(
    ("value", "shape", "dtype"),
    [
        (torch.zeros(3, 2), (3, 2), "float32"),
        (torch.zeros(2, 3, dtype=torch.int64), (2, 3), "int64"),
        (torch.zeros(2, 3, dtype=torch.complex64), (2, 3), "complex64"),
        (torch.zeros(2, 3, dtype=torch.bool), (2, 3), "bool"),
    ],
)
def test_other_shapes_and_dtypes_come_without_values(value: torch.Tensor, shape: tuple[int, ...], dtype: str) -> None:
    """They cannot be right, so their numbers are not sent."""
    seen = see(value, _SLOT)

    assert (seen.presence, seen.shape, seen.dtype, seen.tensor) == (Presence.MISSHAPEN, shape, dtype, None)


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(2, 3).requires_grad_(),
        nn.Parameter(torch.ones(2, 3)),
        torch.ones(1).expand(2, 3),
        torch.ones(3, 2).T,
        torch.ones(2, 3, dtype=torch.float16),
    ],
    ids=["requires grad", "parameter", "expanded", "transposed", "half"],
)
def test_plain_tensors_are_copied_out(value: torch.Tensor) -> None:
    """Contiguous, detached, and apart from the memory of the code."""
    seen = see(value, _SLOT)

    assert seen.presence is Presence.TENSOR
    assert seen.tensor is not None
    assert seen.tensor.is_contiguous()
    assert not seen.tensor.requires_grad
    assert torch.equal(seen.tensor, torch.ones(2, 3, dtype=value.dtype))
    assert seen.tensor.data_ptr() != value.data_ptr()


def test_a_negated_view_is_resolved() -> None:
    """A tensor whose minus sign is still pending comes out with it."""
    value = torch.complex(torch.zeros(2, 3), torch.ones(2, 3)).conj().imag

    seen = see(value, _SLOT)

    assert value.is_neg()
    assert seen.tensor is not None
    assert seen.tensor.tolist() == [[-1.0] * 3] * 2


def test_a_gradient_may_be_absent() -> None:
    """That is a fact of its own."""
    assert see_gradient(None, _SLOT).presence is Presence.NONE
    assert see_gradient(torch.ones(2, 3), _SLOT).presence is Presence.TENSOR
