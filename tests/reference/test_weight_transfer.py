"""The reference of weight transfer: both modules agree afterwards, and share nothing."""

from __future__ import annotations

import torch
from torch import nn

from grader.exercise.labs.weight_transfer.lab import LinearAttention, ParameterAttention
from reference.weight_transfer import transfer_weights

_WIDTHS = (5, 3)


def _pair(seed: int) -> tuple[nn.Module, nn.Module, torch.Tensor]:
    torch.manual_seed(seed)
    return LinearAttention(*_WIDTHS), ParameterAttention(*_WIDTHS), torch.randn(4, _WIDTHS[0])


def test_both_modules_give_the_same_afterwards() -> None:
    """For inputs that the function has never seen."""
    source, target, x = _pair(1)
    before = target(x)
    transfer_weights(source, target)

    assert not torch.allclose(before, source(x))
    assert torch.allclose(target(x), source(x), rtol=0, atol=1e-6)


def test_the_source_and_the_target_are_trained_apart() -> None:
    """A step of the source leaves the target alone, and the target can take one itself."""
    source, target, x = _pair(2)
    transfer_weights(source, target)
    expected = target(x).detach()
    source(x).sum().backward()
    torch.optim.SGD(source.parameters(), lr=1.0).step()
    target(x).sum().backward()

    assert torch.equal(target(x), expected)
    assert not torch.allclose(source(x), expected)
    assert all(parameter.grad is not None for parameter in target.parameters())


def test_the_modules_are_attention() -> None:
    """Both compute what PyTorch's own does without a mask."""
    source, target, x = _pair(3)
    for module in (source, target):
        queries, keys, values = module.project(x)
        expected = nn.functional.scaled_dot_product_attention(queries[None], keys[None], values[None])[0]

        assert torch.allclose(module(x), expected, rtol=0, atol=1e-6)
