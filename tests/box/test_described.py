"""What one construction said of its weights is done in others: of other sizes, and inside a model that is trained."""

from __future__ import annotations

import torch
from torch import nn

from grader.box.binding import bind
from grader.box.binding.choose import fitting
from grader.box.plan import Pick, Weight
from tests.box.small import numbers

_ENCODER, _DECODER, _HIDDEN = 4, 3, 5
_SHAPES = {"W1": (_ENCODER, _HIDDEN), "W2": (_DECODER, _HIDDEN), "v": (_HIDDEN, 1)}
_INSIDE = "model.attention."
_OF_MODEL = {"model.output.weight", "model.output.bias"}


def _weights(scope: str = "") -> tuple[Weight, ...]:
    return tuple(Weight(f"{scope}{name}", numbers(*shape, seed=n)) for n, (name, shape) in enumerate(_SHAPES.items()))


def _joint() -> nn.ModuleDict:
    """Return additive attention with one layer for both inputs, under names that say nothing."""
    layers = {"both": nn.Linear(_ENCODER + _DECODER, _HIDDEN, bias=False), "last": nn.Linear(_HIDDEN, 1, bias=False)}
    return nn.ModuleDict(layers)


def test_what_a_module_showed_holds_where_it_is_part_of_a_model() -> None:
    """The decoder's columns come first, as behaviour has shown, also in the model that is trained around the module."""
    choices = [bind(_joint(), _weights(), pick=Pick(nth=n)) for n in range(bind(_joint(), _weights()).choices)]
    decoder_first = next(one for one in choices if one.describe()["W1"] == "both.weight (part 2 of 2)")
    inner = _joint()
    whole = nn.ModuleDict({"model": nn.ModuleDict({"attention": inner})})
    weights = _weights(_INSIDE)

    binding = bind(whole, weights, pick=Pick(places=decoder_first.places))

    decoders, encoders = inner.get_parameter("both.weight").T.split([_DECODER, _ENCODER])
    assert torch.equal(decoders, weights[1].matrix.float())
    assert torch.equal(encoders, weights[0].matrix.float())
    assert torch.equal(binding.value(weights[0].name, _SHAPES["W1"]), weights[0].matrix.float())


def test_each_construction_takes_the_description_of_its_own_weights() -> None:
    """`general` and `concat` both have a `W`; a model around one of them does as that one does."""
    places = "W=layer.weight|flip||0\n\nW=layer.weight|T||0\nv=v|column||0"

    assert fitting(places, {"W", "v"}) == ["W=layer.weight|T||0", "v=v|column||0"]
    assert fitting(places, {f"{_INSIDE}W", *_OF_MODEL}) == [f"{_INSIDE}W=layer.weight|flip||0"]
    assert fitting(places, {f"{_INSIDE}W", f"{_INSIDE}v", *_OF_MODEL})[1] == f"{_INSIDE}v=v|column||0"


def test_a_description_that_two_parts_could_mean_is_left_as_it_is() -> None:
    """Nothing is guessed where two parts of a module have weights of the same names."""
    assert fitting("W=layer.weight|T||0", {"encoder.W", "decoder.W"}) == ["W=layer.weight|T||0"]
