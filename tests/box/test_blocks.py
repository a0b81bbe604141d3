"""Weights of which each head, or each group of heads, has several in a place of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from grader.box.binding import Binding, bind
from grader.box.plan import Pick, Weight
from tests.box.small import numbers

_IN, _HEADS, _GROUPS, _WIDTH = 5, 4, 2, 3
_NAMES = ("W_query", "W_key", "W_value")
Pack = Callable[[Sequence[Tensor]], Tensor]  # what a parameter holds of query, key and value as (heads, in, width)


def _weights(heads: int = _HEADS, groups: int = _HEADS, *, biased: bool = False) -> tuple[Weight, ...]:
    counts = (heads, groups, groups)
    return tuple(
        Weight(name, numbers(_IN, n * _WIDTH, seed=n + i), numbers(n * _WIDTH, seed=9 + i) if biased else None, n)
        for i, (name, n) in enumerate(zip(_NAMES, counts, strict=True))
    )


def _by_heads(weights: Sequence[Weight], groups: int) -> list[Tensor]:
    return [weight.matrix.unflatten(1, (groups, -1)).transpose(0, 1) for weight in weights]


def _bound(module: nn.Module, weights: tuple[Weight, ...]) -> list[Binding]:
    return [bind(module, weights, pick=Pick(nth=n)) for n in range(bind(module, weights).choices)]


def _values(module: nn.Module, weights: tuple[Weight, ...]) -> list[Tensor]:
    """Return what the only parameter, or all in a row, hold after each assignment."""
    found = []
    for number in range(bind(module, weights).choices):
        bind(module, weights, pick=Pick(nth=number))
        found.append(torch.cat([parameter.detach().flatten() for parameter in module.parameters()]))
    return found


class _Bare(nn.Module):
    def __init__(self, shape: tuple[int, ...], bias: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(shape))
        if bias:
            self.offset = nn.Parameter(torch.zeros(bias))


@pytest.mark.parametrize(
    "pack",
    [
        lambda qkv: torch.stack(qkv),  # (parts, heads, in, width)
        lambda qkv: torch.stack(qkv, 1),  # (heads, parts, in, width)
        lambda qkv: torch.cat(qkv, -1),  # (heads, in, parts * width)
        lambda qkv: torch.cat(qkv, -1).mT,  # (heads, parts * width, in)
        lambda qkv: torch.stack(qkv).permute(2, 0, 1, 3),  # (in, parts, heads, width)
        lambda qkv: torch.stack(qkv).permute(2, 1, 0, 3),  # (in, heads, parts, width)
        lambda qkv: torch.stack(qkv).transpose(1, 2),  # (parts, in, heads, width)
        lambda qkv: torch.stack(qkv).mT,  # (parts, heads, width, in)
    ],
)
def test_a_stack_may_have_its_axes_in_any_order(pack: Pack) -> None:
    """Parts, heads, inputs and features of one parameter: some assignment fills it as its author reads it."""
    weights = _weights()
    wanted = pack(_by_heads(weights, _HEADS)).contiguous()
    module = _Bare(tuple(wanted.shape)).double()

    found = _values(module, weights)

    assert any(torch.equal(wanted.flatten(), values) for values in found)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1)])
def test_each_head_may_have_one_layer_for_several_weights(order: tuple[int, ...]) -> None:
    """The layers of a list are one for each head, whatever the order of query, key and value in them."""
    weights = _weights(biased=True)
    module = nn.ModuleDict({"mix": nn.ModuleList(nn.Linear(_IN, 3 * _WIDTH) for _ in range(_HEADS))}).double()
    blocks = [_by_heads(weights, _HEADS)[i] for i in order]
    biases = [weights[i].bias for i in order]
    wanted = [torch.cat([block[head] for block in blocks], 1).T for head in range(_HEADS)]

    found = []
    for number in range(bind(module, weights).choices):
        bind(module, weights, pick=Pick(nth=number))
        layers = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
        found.append(all(torch.equal(layer.weight, one) for layer, one in zip(layers, wanted, strict=True)))
        if found[-1]:
            first = [bias[:_WIDTH] for bias in biases if bias is not None]

            assert torch.equal(layers[0].bias, torch.cat(first))

    assert any(found)


@pytest.mark.parametrize("owner", ["linear", "plain"])
def test_parts_of_unequal_widths_may_follow_each_other_in_each_group(owner: str) -> None:
    """A group has its queries, its key and its value, as in Falcon and Megatron."""
    weights = _weights(groups=_GROUPS)
    wanted = torch.cat(_by_heads(weights, _GROUPS), -1).transpose(1, 2).flatten(0, 1)
    module = nn.Linear(_IN, len(wanted), bias=False) if owner == "linear" else _Bare(tuple(wanted.shape))

    found = _values(nn.ModuleDict({"mix": module}).double(), weights)

    assert any(torch.equal(wanted.flatten(), values) for values in found)


def test_keys_and_values_alternate_by_groups() -> None:
    """Where there are fewer of them than of queries, their own number says how wide a block is."""
    weights = _weights(groups=_GROUPS)
    module = nn.ModuleDict(
        {"ask": nn.Linear(_IN, _HEADS * _WIDTH, bias=False), "rest": nn.Linear(_IN, 2 * _GROUPS * _WIDTH, bias=False)}
    ).double()
    wanted = torch.stack(_by_heads(weights[1:], _GROUPS), 1).transpose(2, 3).flatten(0, 2)

    found = _values(module, weights)

    assert any(torch.equal(wanted.flatten(), values[-wanted.numel() :]) for values in found)


def test_queries_may_have_an_axis_of_groups_and_one_of_heads() -> None:
    """The axes before the inputs count the heads together."""
    weight = _weights()[:1]
    wanted = _by_heads(weight, _HEADS)[0]
    module = nn.ModuleDict({"W_query": _Bare((_GROUPS, _HEADS // _GROUPS, _IN, _WIDTH))}).double()

    found = _values(module, weight)

    assert any(torch.equal(wanted.flatten(), values) for values in found)


@pytest.mark.parametrize("bias", [(_HEADS, 3, _WIDTH), (_HEADS, 1, 3 * _WIDTH), (3 * _HEADS * _WIDTH,)])
def test_a_bias_lies_like_the_stack_of_its_heads(bias: tuple[int, ...]) -> None:
    """It belongs to the stack, however many axes it has."""
    weights = _weights(biased=True)
    module = _Bare((_HEADS, 3, _IN, _WIDTH), bias).double()
    wanted = torch.stack([w.bias.view(_HEADS, _WIDTH) for w in weights if w.bias is not None], 1)

    found = [values[-wanted.numel() :] for values in _values(module, weights)]

    assert any(torch.equal(wanted.flatten(), values) for values in found)


@pytest.mark.parametrize("shape", [(3, _IN, _WIDTH), (_IN, 3 * _WIDTH)])
def test_what_was_found_with_several_heads_is_found_with_one(shape: tuple[int, ...]) -> None:
    """With a single head the same place has a plainer name."""
    many, one = _weights(), _weights(1, 1)
    several, single = _Bare((_HEADS, *shape)).double(), _Bare((1, *shape)).double()
    wanted = [binding.places for binding in _bound(several, many) if "|heads " in binding.places]

    found = [bind(single, one, pick=Pick(places=places)) for places in wanted]

    assert found
    for places, binding in zip(wanted, found, strict=True):
        assert [line.rpartition("|")[2] for line in places.splitlines()] == _parts(binding)


def _parts(binding: Binding) -> list[str]:
    return [line.rpartition("|")[2] for line in binding.places.splitlines()]
