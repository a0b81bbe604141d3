"""Weights that are no plain projection: of a part, of a table, of torch's own layers, and forms either way round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

from grader.box.binding import bind
from grader.box.plan import Holding, Weight
from grader.errors import Ungradable
from tests.box.small import numbers

_IN, _OUT = 5, 6


@pytest.fixture(autouse=True)
def _double() -> object:
    """Work in float64, as the box does."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def _weights() -> tuple[Weight, ...]:
    return tuple(Weight(f"W_{n}", numbers(_IN, _OUT, seed=n), numbers(_OUT, seed=9 + n)) for n in range(3))


def _attention_part(*names: str) -> nn.Module:
    part = nn.Module()
    for name in names:
        part.add_module(name, nn.Linear(_IN, _OUT))
    return part


def test_a_weight_of_a_part_is_looked_for_there() -> None:
    """Two parts hold weights of one name; each part has a customary name of its own for it."""
    module, (first, second, _) = nn.Module(), _weights()
    module.encoder_attention, module.cross_attention = _attention_part("W_query"), _attention_part("q_proj")
    weights = (replace(first, name="encoder_attention.W_query"), replace(second, name="cross_attention.W_query"))

    binding = bind(module, weights)

    assert torch.equal(module.encoder_attention.W_query.weight.T, first.matrix)
    assert torch.equal(module.cross_attention.q_proj.weight.T, second.matrix)
    assert binding.describe()["cross_attention.W_query.bias"] == "cross_attention.q_proj.bias"
    assert binding.unused == ()


def test_a_part_may_lie_further_in() -> None:
    """An encoder of the student's own may hold it, if only one does."""
    module, (weight, *_) = nn.Module(), _weights()
    module.encoder = nn.ModuleDict({"attention": _attention_part("W_query")})
    weight = replace(weight, name="attention.W_query")

    assert bind(module, (weight,)).describe()["attention.W_query"] == "encoder.attention.W_query.weight"
    module.decoder = nn.ModuleDict({"attention": _attention_part("W_query")})
    with pytest.raises(Ungradable, match=r"`attention` exists more than once: `encoder.attention`, `decoder.att"):
        bind(module, (weight,))


def test_a_part_that_is_not_there_is_named() -> None:
    """The message says which part is wanted, and which there are."""
    module, (weight, *_) = nn.Module(), _weights()
    module.attend = nn.Linear(_IN, _OUT + 1)

    with pytest.raises(Ungradable, match="your module must have `attention` among its submodules; it has: `attend`"):
        bind(module, (replace(weight, name="attention.W_query"),))


def test_a_weight_of_the_module_itself_comes_before_one_of_a_part() -> None:
    """An output projection of the whole, and a layer of the same name inside of its attention."""
    module, (weight, *_) = nn.Module(), _weights()
    module.attention, module.output_projection = _attention_part("output_projection"), nn.Linear(_IN, _OUT)
    inner = module.attention.output_projection.weight.detach().clone()

    bind(module, (replace(weight, name="output_projection"),))

    assert torch.equal(module.output_projection.weight.T, weight.matrix)
    assert torch.equal(module.attention.output_projection.weight, inner)


@pytest.mark.parametrize("make", [lambda: nn.Embedding(_IN, _OUT), lambda: nn.Parameter(torch.zeros(_IN, _OUT))])
def test_a_table_is_an_embedding_or_a_parameter(make: Callable[[], nn.Module | nn.Parameter]) -> None:
    """Its rows stay rows, and an embedding has no bias."""
    module, table = nn.Module(), numbers(_IN, _OUT)
    module.src_embedding = make()

    binding = bind(module, (Weight("src_embedding", table, holding=Holding.TABLE),))

    assert torch.equal(next(module.parameters()), table)
    assert binding.zeroed == binding.unused == ()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_of_a_table_is_zero_in_rows_that_were_not_used(sparse: bool) -> None:
    """Also where the table keeps the used rows only."""
    module, table = nn.Module(), numbers(_IN, _OUT)
    module.src_embedding = nn.Embedding(_IN, _OUT, sparse=sparse, dtype=torch.float64)
    binding = bind(module, (Weight("src_embedding", table, holding=Holding.TABLE),))
    upstream = numbers(2, _OUT, seed=1)

    module.src_embedding(torch.tensor([3, 1])).backward(upstream)

    expected = torch.zeros(_IN, _OUT, dtype=torch.float64)
    expected[[3, 1]] = upstream
    found = binding.gradient("src_embedding", (_IN, _OUT))
    assert found is not None
    assert torch.equal(found, expected)


@pytest.mark.parametrize("other", ["embed", "token_embedding", "wte"])
def test_a_table_has_customary_names_too(other: str) -> None:
    """The only table of a module is often called so."""
    module, table = nn.Module(), numbers(_IN, _OUT)
    module.add_module(other, nn.Embedding(_IN, _OUT))

    bind(module, (Weight("embedding", table, holding=Holding.TABLE),))

    assert torch.equal(next(module.parameters()), table)


@pytest.mark.parametrize("shape", [(_IN, _OUT), (1, _IN, _OUT), (_IN, 1, _OUT)])
@pytest.mark.parametrize("name", ["position_embeddings", "pos_emb", "anything"])
def test_a_table_is_found_by_its_shape(name: str, shape: tuple[int, ...]) -> None:
    """Whatever it is called, and with an axis of length one that lets it broadcast over a batch."""
    module, rows = nn.Module(), numbers(_IN, _OUT)
    module.register_parameter(name, nn.Parameter(torch.zeros(shape)))

    bind(module, (Weight("position_embeddings", rows, holding=Holding.TABLE),))

    assert torch.equal(module.get_parameter(name).view(_IN, _OUT), rows)


def test_an_absent_table_says_what_it_may_be_called() -> None:
    """Some of its customary names are in the message."""
    weight = Weight("relative_bias", numbers(_IN, _OUT), holding=Holding.TABLE)

    with pytest.raises(
        Ungradable, match=r"no parameters\. It must be there in this case, as `relative_bias`, or one of "
    ):
        bind(nn.Module(), (weight,))


def test_how_a_weight_began_is_kept() -> None:
    """Mean and standard deviation from before it was given its value, of a projection that lies in pieces as well."""
    module, weight = nn.Module(), Weight("W_query", numbers(_IN, _OUT))
    module.W_query = nn.ModuleList(nn.Linear(_IN, _OUT // 2, bias=False) for _ in range(2))
    before = torch.cat([layer.weight.detach() for layer in module.W_query]).double()

    mean, std = bind(module, (weight,), initial_of=("W_query",)).initial["W_query"]

    assert mean == pytest.approx(float(before.mean()))
    assert std == pytest.approx(float(before.std(correction=0)))


def test_a_table_of_another_size_says_both_sizes() -> None:
    """What is there, and what must be."""
    module = nn.Module()
    module.src_embedding = nn.Embedding(_OUT, _IN)

    with pytest.raises(Ungradable, match=r"`src_embedding` must have shape \(5, 6\) here; `src_embedding.weight` has"):
        bind(module, (Weight("src_embedding", numbers(_IN, _OUT), holding=Holding.TABLE),))


def _lstm_weights(lstm: nn.LSTM) -> tuple[Weight, ...]:
    drawn = ((name, numbers(*parameter.shape, seed=n)) for n, (name, parameter) in enumerate(lstm.named_parameters()))
    return tuple(Weight(f"encoder_lstm.{name}", value, holding=Holding.EXACT) for name, value in drawn)


@pytest.mark.parametrize("place", ["encoder_lstm", "encoder.encoder_lstm"])
def test_an_exact_weight_is_found_under_its_own_path(place: str) -> None:
    """Everything that an nn.LSTM holds, wherever the module keeps it; gradients come back from there."""
    module, lstm = nn.Module(), nn.LSTM(3, 2, num_layers=2, bidirectional=True)
    owner, _, name = place.rpartition(".")
    if owner:
        module.add_module(owner, nn.Module())
    module.get_submodule(owner).add_module(name, lstm)
    weights = _lstm_weights(lstm)

    binding = bind(module, weights)
    lstm(numbers(4, 3))[0].sum().backward()

    assert len(weights) == 16
    for weight, parameter in zip(weights, lstm.parameters(), strict=True):
        assert torch.equal(parameter, weight.matrix)
        assert parameter.grad is not None
        assert torch.equal(binding.gradient(weight.name, tuple(parameter.shape)), parameter.grad)
    assert binding.unused == ()


def test_an_exact_weight_registered_twice_is_one() -> None:
    """A list beside the part holds the same layer."""
    module, lstm = nn.Module(), nn.LSTM(3, 2)
    module.stages = nn.ModuleDict({"encoder_lstm": lstm})
    module.again = nn.ModuleDict({"encoder_lstm": lstm})

    binding = bind(module, _lstm_weights(lstm))

    assert binding.describe()["encoder_lstm.weight_hh_l0"] == "stages.encoder_lstm.weight_hh_l0"


def test_a_missing_exact_weight_says_its_shape_and_what_there_is() -> None:
    """A student sees that the layer has one layer too few."""
    module = nn.Module()
    module.encoder_lstm = nn.LSTM(3, 2)

    with pytest.raises(Ungradable, match=r"`encoder_lstm.weight_ih_l1`, of shape \(8, 2\), was not found; your module"):
        bind(module, (Weight("encoder_lstm.weight_ih_l1", numbers(8, 2), holding=Holding.EXACT),))


_ROUNDS: dict[str, Callable[[], nn.Module | nn.Parameter]] = {
    "linear": lambda: nn.Linear(_IN, _OUT, bias=False),
    "linear, the other way round": lambda: nn.Linear(_OUT, _IN, bias=False),
    "parameter": lambda: nn.Parameter(torch.zeros(_IN, _OUT)),
    "parameter, the other way round": lambda: nn.Parameter(torch.zeros(_OUT, _IN)),
    "bilinear": lambda: nn.Bilinear(_IN, _OUT, 1, bias=False),
    "bilinear, the other way round": lambda: nn.Bilinear(_OUT, _IN, 1, bias=False),
}


@pytest.mark.parametrize("make", _ROUNDS.values(), ids=_ROUNDS.keys())
def test_a_form_may_be_kept_either_way_round(make: Callable[[], nn.Module | nn.Parameter]) -> None:
    """A matrix between two vectors is no map yet: x W y is y W' x."""
    module, form = nn.Module(), numbers(_IN, _OUT)
    module.W = make()

    binding = bind(module, (Weight("W", form, either=True),))
    (parameter,) = module.parameters()
    parameter.grad = parameter.detach().clone()

    assert parameter.shape[-2:] in {form.shape, form.T.shape}
    assert torch.equal(parameter.detach().view(parameter.shape[-2:]).sort()[0].sum(), parameter.sort()[0].sum())
    assert torch.equal(binding.gradient("W", (_IN, _OUT)), form)


def test_a_projection_lies_one_way_only() -> None:
    """Where it is a map, the other way round does not fit."""
    module = nn.Module()
    module.W = nn.Linear(_OUT, _IN, bias=False)

    with pytest.raises(Ungradable, match=r"must be an nn.Linear\(5, 6\)"):
        bind(module, (Weight("W", numbers(_IN, _OUT)),))


def test_a_layer_for_another_construction_is_passed_over() -> None:
    """A module that always makes all of its layers has one of a customary name that fits."""
    module, matrix = nn.Module(), numbers(_IN, _OUT)
    module.W, module.W_concat = nn.Linear(3, _OUT, bias=False), nn.Linear(_IN, _OUT, bias=False)

    binding = bind(module, (Weight("W", matrix),))

    assert binding.describe()["W"] == "W_concat.weight"
    assert torch.equal(module.W_concat.weight.T, matrix)


@pytest.mark.parametrize(("name", "other"), [("W1", "W_h"), ("W2", "W_s"), ("W1", "U_a"), ("W2", "W_a"), ("v", "v_a")])
def test_the_papers_names_are_understood(name: str, other: str) -> None:
    """For the weights of additive attention."""
    module, matrix = nn.Module(), numbers(_IN, 1 if name == "v" else _OUT)
    module.add_module(other, nn.Linear(_IN, matrix.shape[1], bias=False))

    assert bind(module, (Weight(name, matrix),)).describe() == {name: f"{other}.weight"}


def test_a_superfluous_bias_between_two_layers_is_zeroed() -> None:
    """Under the name that the second layer's bias usually has."""
    module = nn.Module()
    module.W2, module.b2 = nn.Linear(_IN, _OUT, bias=False), nn.Parameter(torch.ones(_OUT))

    assert bind(module, (Weight("W2", numbers(_IN, _OUT)),)).zeroed == ("b2",)
    assert not module.b2.any()


@pytest.mark.parametrize("make", [nn.Linear, lambda size_in, size_out: nn.Bilinear(size_in, size_out, 1)])
@pytest.mark.parametrize("sizes", [(_IN, _OUT), (_OUT, _IN)])
def test_the_whole_bias_of_a_form_is_zeroed(make: Callable[..., nn.Module], sizes: tuple[int, int]) -> None:
    """It is as long as what its layer gives, whichever way round that lies."""
    module = nn.Module()
    module.W = make(*sizes)
    nn.init.ones_(module.W.bias)

    assert bind(module, (Weight("W", numbers(_IN, _OUT), either=True),)).zeroed == ("W.bias",)
    assert not module.W.bias.any()


@pytest.mark.parametrize(("gain", "shift"), [("weight", "bias"), ("gamma", "beta"), ("a_2", "b_2")])
def test_a_norm_may_be_written_by_hand(gain: str, shift: str) -> None:
    """Its two vectors have customary names."""
    module = nn.Module()
    module.encoder_norm = nn.Module()
    for name in (gain, shift):
        module.encoder_norm.register_parameter(name, nn.Parameter(torch.zeros(_OUT)))
    weights = tuple(
        Weight(f"encoder_norm.{name}", numbers(_OUT, seed=n), holding=Holding.EXACT)
        for n, name in enumerate(("weight", "bias"))
    )

    told = bind(module, weights).describe()

    assert told == {"encoder_norm.weight": f"encoder_norm.{gain}", "encoder_norm.bias": f"encoder_norm.{shift}"}
    assert torch.equal(module.encoder_norm.get_parameter(gain), weights[0].matrix)
