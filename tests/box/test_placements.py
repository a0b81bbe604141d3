"""Parts of a module under other names: those that could hold the weights are candidates, and behaviour can decide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from grader.box.binding import bind
from grader.box.plan import Holding, Pick, Weight
from grader.errors import Ungradable
from tests.box.small import numbers

_WIDTH = 4


class _Layers(nn.Module):
    """Parts under given names, in that order."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def _exact(scope: str, part: nn.Module) -> Iterator[Weight]:
    for n, (name, parameter) in enumerate(part.named_parameters()):
        yield Weight(f"{scope}.{name}", numbers(*parameter.shape, seed=n + len(scope)), holding=Holding.EXACT)


def _attention(scope: str) -> Iterator[Weight]:
    for n, name in enumerate(("W_query", "W_out")):
        yield Weight(f"{scope}.{name}", numbers(_WIDTH, _WIDTH, seed=n + len(scope)), numbers(_WIDTH, seed=n), 1)


def _square() -> nn.Module:
    return _Layers(q=nn.Linear(_WIDTH, _WIDTH), o=nn.Linear(_WIDTH, _WIDTH))


def _norms() -> tuple[Weight, ...]:
    return (*_exact("encoder_norm", nn.LayerNorm(_WIDTH)), *_exact("cross_norm", nn.LayerNorm(_WIDTH)))


def test_a_recurrent_layer_is_known_by_its_shapes() -> None:
    """Two LSTMs of other names cannot be mistaken for each other where one reads both ways."""
    both, one = nn.LSTM(3, 2, bidirectional=True), nn.LSTM(3, 4)
    module = _Layers(rnn=one, reader=both).double()
    weights = (*_exact("encoder_lstm", both), *_exact("decoder_lstm", one))

    binding = bind(module, weights)

    assert binding.choices == 1
    assert torch.equal(both.weight_ih_l0_reverse, _value(weights, "encoder_lstm.weight_ih_l0_reverse"))
    assert torch.equal(one.weight_hh_l0, _value(weights, "decoder_lstm.weight_hh_l0"))


def test_words_that_a_path_shares_come_before_the_order_of_construction() -> None:
    """`decoder.norm` is not the norm of the encoder, though it is made first."""
    module = _Layers(decoder=_Layers(norm=nn.LayerNorm(_WIDTH)), encoder=_Layers(norm=nn.LayerNorm(_WIDTH)))

    binding = bind(module, _norms())

    assert binding.describe()["encoder_norm.weight"] == "encoder.norm.weight"


def test_every_way_to_take_parts_can_be_asked_for_and_described() -> None:
    """Without telling words the order of construction comes first; what a description says holds elsewhere too."""
    module = _Layers(a=nn.LayerNorm(_WIDTH), b=nn.LayerNorm(_WIDTH))

    first, second = (bind(module, _norms(), pick=Pick(nth=number)) for number in range(2))
    again = bind(module, _norms(), pick=Pick(places=second.places))

    assert (first.choices, second.choices) == (2, 2)
    assert first.describe()["cross_norm.bias"] == "b.bias"
    assert second.describe()["cross_norm.bias"] == again.describe()["cross_norm.bias"] == "a.bias"


def test_attention_of_another_name_is_a_part_of_as_many_numbers() -> None:
    """A part inside of another one counts, a wrapper of it does not twice."""
    module = _Layers(self_attn=_square(), block=_Layers(inner=_square()), head=nn.Linear(_WIDTH, 7))
    weights = (*_attention("encoder_attention"), *_attention("cross_attention"))

    binding = bind(module, weights)

    assert {piece[0].path.split(".")[0] for piece in binding.pieces.values()} == {"self_attn", "block"}
    assert binding.choices >= 2


def test_parts_that_are_too_few_are_named() -> None:
    """One attention for both is no answer, and the text says what is wanted and what there is."""
    module = _Layers(attn=_square())

    with pytest.raises(Ungradable, match="`cross_attention` among its submodules; it has: `attn`"):
        bind(module, (*_attention("encoder_attention"), *_attention("cross_attention")))


@pytest.mark.parametrize("biases", [(True, True, True), (True, False, False), (False, False, False)])
def test_an_output_layer_for_each_head_is_blocks_of_rows(biases: tuple[bool, ...]) -> None:
    """Their results are added up, so the first bias is the whole, wherever it lies, and further ones are zero."""
    heads = len(biases)
    module = _Layers(
        q=nn.ModuleList(nn.Linear(5, 2) for _ in range(heads)),
        o=nn.ModuleList(nn.Linear(2, 6, bias=bias) for bias in biases),
    )
    if not any(biases):
        module.out_bias = nn.Parameter(torch.zeros(6))
    module.double()
    query = Weight("W_query", numbers(5, 6), numbers(6, seed=1), heads)
    out = Weight("W_out", numbers(6, 6, seed=2), numbers(6, seed=3))
    x = numbers(4, 6, seed=5)

    binding = bind(module, (query, out))
    total = sum(layer(part) for layer, part in zip(module.o, x.split(2, dim=-1), strict=True))
    total = total if any(biases) else total + module.out_bias

    assert out.bias is not None
    torch.testing.assert_close(total, x @ out.matrix + out.bias)
    assert torch.equal(binding.value("W_out", (6, 6)), out.matrix)


def _value(weights: tuple[Weight, ...], name: str) -> Tensor:
    return next(weight.matrix for weight in weights if weight.name == name)
