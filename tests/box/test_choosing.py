"""Weights whose names do not say which is which, and layouts that no shape tells: all can be asked for, and told."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch import Tensor, nn

from grader.box.binding import Binding, bind
from grader.box.binding.choose import fitting
from grader.box.plan import Pick, Weight
from grader.errors import Ungradable
from tests.box.small import numbers

_HEADS, _WIDTH, _IN = 3, 2, 5
_OUT = _HEADS * _WIDTH
_NAMES = ("W_query", "W_key", "W_value")


def _weights(size_in: int = _IN) -> tuple[Weight, ...]:
    return tuple(
        Weight(name, numbers(size_in, _OUT, seed=n), numbers(_OUT, seed=9 + n), _HEADS) for n, name in enumerate(_NAMES)
    )


def _layers(*names: str, size_in: int = _IN) -> nn.Module:
    return nn.ModuleDict({name: nn.Linear(size_in, _OUT) for name in names})


def _places(binding: Binding) -> tuple[str, ...]:
    told = binding.describe()
    return tuple(told[name].removesuffix(".weight") for name in _NAMES)


def _all(module: nn.Module, weights: tuple[Weight, ...]) -> list[Binding]:
    count = bind(module, weights).choices
    return [bind(module, weights, pick=Pick(nth=number)) for number in range(count)]


def test_without_telling_names_every_order_can_be_asked_for() -> None:
    """The order of construction comes first."""
    module = _layers("one", "two", "three")

    found = [_places(binding) for binding in _all(module, _weights())]

    assert found[0] == ("one", "two", "three")
    assert sorted(found) == sorted(permutations(("one", "two", "three")))


@pytest.mark.parametrize("size_in", [_IN, _OUT])
def test_modules_that_are_alike_are_filled_alike(size_in: int) -> None:
    """Each of them has every assignment in its own parameters, however many were looked through before."""
    weights = _weights(size_in)
    for number in range(bind(_layers("one", "two", "three", size_in=size_in), weights).choices):
        first, again = (_layers("one", "two", "three", size_in=size_in) for _ in range(2))
        expected, found = (bind(module, weights, pick=Pick(nth=number)) for module in (first, again))

        assert (found.describe(), found.places) == (expected.describe(), expected.places)
        assert all(torch.equal(mine, its) for mine, its in zip(again.parameters(), first.parameters(), strict=True))


@pytest.mark.parametrize(
    "names",
    [
        ("toqueries", "tokeys", "tovalues"),
        ("_W_q", "_W_k", "_W_v"),
        ("attnQ", "attnK", "attnV"),
        ("w_qs", "w_ks", "w_vs"),
    ],
)
def test_words_in_names_decide_whatever_the_order(names: tuple[str, str, str]) -> None:
    """Who calls a layer `toqueries` and takes keys from it has made a mistake, and no choice may hide that."""
    for order in permutations(names):
        binding = bind(_layers(*order), _weights())

        assert (binding.choices, _places(binding)) == (1, names)


def test_an_assignment_is_found_again_in_another_size() -> None:
    """What one construction shows is used for all of them."""
    wanted = _all(_layers("one", "two", "three"), _weights())[4]
    wide = _weights(size_in=7)

    again = bind(_layers("one", "two", "three", size_in=7), wide, pick=Pick(places=wanted.places))

    assert _places(again) == _places(wanted)


def test_an_assignment_that_there_is_not_is_refused() -> None:
    """Only so many can be asked for."""
    with pytest.raises(Ungradable, match="there is no assignment 6 of your weights, only 6"):
        bind(_layers("one", "two", "three"), _weights(), pick=Pick(nth=6))


def _apart(fused: Tensor, order: str, part: int) -> Tensor:
    """Return one part of a fused projection of (time, total) whose axes lie in `order`, as (time, heads * width)."""
    sizes = {"p": 3, "h": _HEADS, "d": _WIDTH}
    axes = fused.unflatten(-1, tuple(sizes[axis] for axis in order))
    return axes.permute(0, *(1 + order.index(axis) for axis in "phd"))[:, part].flatten(1)


@pytest.mark.parametrize("order", ["".join(order) for order in permutations("phd")])
@pytest.mark.parametrize("name", ["qkv", "everything"])
def test_every_order_of_a_fused_projections_axes_is_among_the_choices(name: str, order: str) -> None:
    """Parts, heads and features in any order: one choice gives the contract's projections, and their gradients."""
    module, x, weights = nn.ModuleDict({name: nn.Linear(_IN, 3 * _OUT)}), numbers(4, _IN), _weights()
    wanted = [x @ weight.matrix + weight.bias for weight in weights if weight.bias is not None]
    right = []

    for number in range(bind(module, weights).choices):
        binding = bind(module, weights, pick=Pick(nth=number))
        seen = [_apart(module[name](x), order, part) for part in range(3)]
        if all(torch.allclose(got, want) for got, want in zip(seen, wanted, strict=True)):
            right.append(number)
            module.zero_grad()
            seen[1].sum().backward()
            assert torch.allclose(binding.gradient("W_key", (_IN, _OUT)), x.sum(0)[:, None].expand(-1, _OUT))
            assert torch.equal(binding.gradient("W_key.bias", (_OUT,)), torch.full((_OUT,), 4.0))

    assert len(right) == 1


@pytest.fixture(autouse=True)
def _double() -> object:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_layers_numbered_in_their_names_are_one_for_each_head() -> None:
    """`q_0`, `q_1`, `q_2` are the blocks of one projection, as the items of a list are."""
    module = nn.ModuleDict({f"{word}_{n}": nn.Linear(_IN, _WIDTH) for n in range(_HEADS) for word in "qkv"})

    binding = bind(module, _weights())

    assert [piece.path for piece in binding.pieces["W_key"]] == ["k_0.weight", "k_1.weight", "k_2.weight"]
    assert [piece.path for piece in binding.pieces["W_key.bias"]] == ["k_0.bias", "k_1.bias", "k_2.bias"]


def test_a_bias_that_is_stacked_like_its_matrices_serves_all_of_them() -> None:
    """One `weight` (3, in, out) and one `bias` (3, out): each projection has its part of both."""
    module = nn.Module()
    module.weight, module.bias = nn.Parameter(torch.zeros(3, _IN, _OUT)), nn.Parameter(torch.zeros(3, _OUT))

    bind(module, _weights())

    for n, weight in enumerate(_weights()):
        assert weight.bias is not None
        assert torch.equal(module.weight[n], weight.matrix.to(module.weight))
        assert torch.equal(module.bias[n], weight.bias.to(module.bias))


_ENCODER, _DECODER, _HIDDEN = 4, 3, 5
_SHAPES = {"W1": (_ENCODER, _HIDDEN), "W2": (_DECODER, _HIDDEN), "v": (_HIDDEN, 1)}
_INSIDE = "model.attention."
_OF_MODEL = {"model.output.weight", "model.output.bias"}


def _additive(scope: str = "") -> tuple[Weight, ...]:
    return tuple(Weight(f"{scope}{name}", numbers(*shape, seed=n)) for n, (name, shape) in enumerate(_SHAPES.items()))


def _joint() -> nn.ModuleDict:
    """Return additive attention with one layer for both inputs, under names that say nothing."""
    layers = {"both": nn.Linear(_ENCODER + _DECODER, _HIDDEN, bias=False), "last": nn.Linear(_HIDDEN, 1, bias=False)}
    return nn.ModuleDict(layers)


def test_what_a_module_showed_holds_where_it_is_part_of_a_model() -> None:
    """The decoder's columns come first, as behaviour has shown, also in the model that is trained around the module."""
    choices = [bind(_joint(), _additive(), pick=Pick(nth=n)) for n in range(bind(_joint(), _additive()).choices)]
    decoder_first = next(one for one in choices if one.describe()["W1"] == "both.weight (part 2 of 2)")
    inner = _joint()
    whole = nn.ModuleDict({"model": nn.ModuleDict({"attention": inner})})
    weights = _additive(_INSIDE)

    binding = bind(whole, weights, pick=Pick(places=decoder_first.places))

    decoders, encoders = inner.get_parameter("both.weight").T.split([_DECODER, _ENCODER])
    assert torch.equal(decoders, weights[1].matrix)
    assert torch.equal(encoders, weights[0].matrix)
    assert torch.equal(binding.value(weights[0].name, _SHAPES["W1"]), weights[0].matrix)


def test_each_construction_takes_the_description_of_its_own_weights() -> None:
    """`general` and `concat` both have a `W`; a model around one of them does as that one does."""
    places = "W=layer.weight|flip||0\n\nW=layer.weight|T||0\nv=v|column||0"

    assert fitting(places, {"W", "v"}) == ["W=layer.weight|T||0", "v=v|column||0"]
    assert fitting(places, {f"{_INSIDE}W", *_OF_MODEL}) == [f"{_INSIDE}W=layer.weight|flip||0"]
    assert fitting(places, {f"{_INSIDE}W", f"{_INSIDE}v", *_OF_MODEL})[1] == f"{_INSIDE}v=v|column||0"


def test_a_description_that_two_parts_could_mean_is_left_as_it_is() -> None:
    """Nothing is guessed where two parts of a module have weights of the same names."""
    assert fitting("W=layer.weight|T||0", {"encoder.W", "decoder.W"}) == ["W=layer.weight|T||0"]
