"""Weights: the contract's numbers arrive in every layout, and their gradients come back through the same places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from grader.box.binding import bind
from grader.box.plan import Weight
from grader.errors import Ungradable
from tests.box.small import numbers

_IN, _OUT, _HEADS = 5, 6, 3
_NAMES = ("W_query", "W_key", "W_value")
Projections = list[Tensor]


def _weights(*, bias: bool = True, size_in: int = _IN) -> tuple[Weight, ...]:
    return tuple(
        Weight(name, numbers(size_in, _OUT, seed=n), numbers(_OUT, seed=9 + n) if bias else None, _HEADS)
        for n, name in enumerate(_NAMES)
    )


class _Layout(nn.Module):
    """A module that projects x to queries, keys and values in the layout that `make` gives it."""

    def __init__(self, make: Callable[[nn.Module], Callable[[Tensor], Projections]]) -> None:
        super().__init__()
        self.run = make(self)


def _own(*names: str) -> Callable[[nn.Module], Callable[[Tensor], Projections]]:
    def make(module: nn.Module) -> Callable[[Tensor], Projections]:
        layers = [nn.Linear(_IN, _OUT) for _ in names]
        for name, layer in zip(names, layers, strict=True):
            module.add_module(name, layer)
        return lambda x: [layer(x) for layer in layers]

    return make


def _parameters(shape: tuple[int, int]) -> Callable[[nn.Module], Callable[[Tensor], Projections]]:
    def make(module: nn.Module) -> Callable[[Tensor], Projections]:
        flip = shape != (_IN, _OUT)
        pairs = []
        for letter in "qkv":
            matrix, bias = nn.Parameter(torch.zeros(shape)), nn.Parameter(torch.zeros(_OUT))
            module.register_parameter(f"W_{letter}", matrix)
            module.register_parameter(f"b_{letter}", bias)
            pairs.append((matrix, bias))
        return lambda x: [x @ (w.T if flip else w) + b for w, b in pairs]

    return make


def _parameter_dicts(module: nn.Module) -> Callable[[Tensor], Projections]:
    words = ("query", "key", "value")
    module.w = nn.ParameterDict({word: nn.Parameter(torch.zeros(_IN, _OUT)) for word in words})
    module.b = nn.ParameterDict({word: nn.Parameter(torch.zeros(_OUT)) for word in words})
    return lambda x: [x @ module.w[word] + module.b[word] for word in words]


def _fused_linear(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.qkv = nn.Linear(_IN, 3 * _OUT)
    return lambda x: list(module.qkv(x).chunk(3, -1))


def _fused_parameter(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.W_qkv = nn.Parameter(torch.zeros(_IN, 3 * _OUT))
    module.b_qkv = nn.Parameter(torch.zeros(3 * _OUT))
    return lambda x: list((x @ module.W_qkv + module.b_qkv).chunk(3, -1))


def _in_proj(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.in_proj_weight = nn.Parameter(torch.zeros(3 * _OUT, _IN))
    module.in_proj_bias = nn.Parameter(torch.zeros(3 * _OUT))
    return lambda x: list((x @ module.in_proj_weight.T + module.in_proj_bias).chunk(3, -1))


def _keys_and_values_fused(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.to_q, module.to_kv = nn.Linear(_IN, _OUT), nn.Linear(_IN, 2 * _OUT)
    return lambda x: [module.to_q(x), *module.to_kv(x).chunk(2, -1)]


def _list_of_three(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.qkv = nn.ModuleList(nn.Linear(_IN, _OUT) for _ in _NAMES)
    return lambda x: [layer(x) for layer in module.qkv]


def _plain_list(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.linears = nn.ModuleList(nn.Linear(_IN, _OUT) for _ in _NAMES)
    return lambda x: [layer(x) for layer in module.linears]


def _stack_of_three(module: nn.Module) -> Callable[[Tensor], Projections]:
    module.W_qkv, module.b_qkv = nn.Parameter(torch.zeros(3, _IN, _OUT)), nn.Parameter(torch.zeros(3, _OUT))
    return lambda x: [x @ module.W_qkv[i] + module.b_qkv[i] for i in range(3)]


def _inside_a_module_of_their_own(module: nn.Module) -> Callable[[Tensor], Projections]:
    for name in ("query", "key", "value"):
        module.add_module(name, nn.ModuleDict({"norm": nn.Identity(), "linear": nn.Linear(_IN, _OUT)}))
    return lambda x: [getattr(module, name)["linear"](x) for name in ("query", "key", "value")]


def _module_per_head(module: nn.Module) -> Callable[[Tensor], Projections]:
    def head() -> nn.Module:
        return nn.ModuleDict({name: nn.Linear(_IN, _OUT // _HEADS) for name in _NAMES})

    module.heads = nn.ModuleList(head() for _ in range(_HEADS))
    return lambda x: [torch.cat([head[name](x) for head in module.heads], -1) for name in _NAMES]


def _attribute_per_head(module: nn.Module) -> Callable[[Tensor], Projections]:
    heads = [nn.ModuleDict({name: nn.Linear(_IN, _OUT // _HEADS) for name in _NAMES}) for _ in range(_HEADS)]
    for number, head in enumerate(heads, 1):
        module.add_module(f"head_{number}", head)
    return lambda x: [torch.cat([head[name](x) for head in heads], -1) for name in _NAMES]


def _fused_per_head(module: nn.Module) -> Callable[[Tensor], Projections]:
    width = _OUT // _HEADS
    heads = [nn.Module() for _ in range(_HEADS)]
    for head in heads:
        head.qkv = nn.Linear(_IN, 3 * width)
    module.heads = nn.ModuleList(heads)

    def run(x: Tensor) -> Projections:
        parts = [head.qkv(x).chunk(3, -1) for head in heads]
        return [torch.cat([part[i] for part in parts], -1) for i in range(3)]

    return run


def _list_per_projection(module: nn.Module) -> Callable[[Tensor], Projections]:
    for name in _NAMES:
        module.add_module(name, nn.ModuleList(nn.Linear(_IN, _OUT // _HEADS) for _ in range(_HEADS)))
    return lambda x: [torch.cat([layer(x) for layer in getattr(module, name)], -1) for name in _NAMES]


def _matrix_per_head(module: nn.Module) -> Callable[[Tensor], Projections]:
    width = _OUT // _HEADS
    pairs = []
    for letter in "qkv":
        matrix, bias = nn.Parameter(torch.zeros(_HEADS, _IN, width)), nn.Parameter(torch.zeros(_HEADS, width))
        module.register_parameter(f"W_{letter}", matrix)
        module.register_parameter(f"b_{letter}", bias)
        pairs.append((matrix, bias))
    return lambda x: [torch.cat([x @ w[i] + b[i] for i in range(_HEADS)], -1) for w, b in pairs]


def _heads_inside_a_matrix(module: nn.Module) -> Callable[[Tensor], Projections]:
    pairs = []
    for letter in "qkv":
        matrix = nn.Parameter(torch.zeros(_IN, _HEADS, _OUT // _HEADS))
        bias = nn.Parameter(torch.zeros(_HEADS, _OUT // _HEADS))
        module.register_parameter(f"W_{letter}", matrix)
        module.register_parameter(f"b_{letter}", bias)
        pairs.append((matrix, bias))
    return lambda x: [(torch.einsum("ti,ihd->thd", x, w) + b).flatten(-2) for w, b in pairs]


def _registered_twice(module: nn.Module) -> Callable[[Tensor], Projections]:
    run = _own(*_NAMES)(module)
    module.again = nn.ModuleDict({name: getattr(module, name) for name in _NAMES})
    return run


_LAYOUTS: dict[str, Callable[[nn.Module], Callable[[Tensor], Projections]]] = {
    "linear": _own(*_NAMES),
    "q_proj": _own("q_proj", "k_proj", "v_proj"),
    "query": _own("query", "key", "value"),
    "to_q": _own("to_q", "to_k", "to_v"),
    "wq": _own("wq", "wk", "wv"),
    "parameters": _parameters((_IN, _OUT)),
    "parameters, transposed": _parameters((_OUT, _IN)),
    "parameter dicts": _parameter_dicts,
    "fused linear": _fused_linear,
    "fused parameter": _fused_parameter,
    "in_proj": _in_proj,
    "keys and values fused": _keys_and_values_fused,
    "a list of three": _list_of_three,
    "a plain list": _plain_list,
    "a stack of three": _stack_of_three,
    "inside a module of their own": _inside_a_module_of_their_own,
    "a module per head": _module_per_head,
    "an attribute per head": _attribute_per_head,
    "a fused layer per head": _fused_per_head,
    "a list per projection": _list_per_projection,
    "a matrix per head": _matrix_per_head,
    "heads inside a matrix": _heads_inside_a_matrix,
    "registered twice": _registered_twice,
}


@pytest.fixture(autouse=True)
def _double() -> object:
    """Work in float64, as the box does."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("make", _LAYOUTS.values(), ids=_LAYOUTS.keys())
def test_a_layout_gives_the_contracts_projections_and_gradients(make: object) -> None:
    """The module computes x W + b with the values given, and every gradient read back is the one torch computes."""
    assert callable(make)
    module, weights, x = _Layout(make), _weights(), numbers(4, _IN, seed=5)
    binding = bind(module, weights)
    leaves = [
        (w.matrix.clone().requires_grad_(), w.bias.clone().requires_grad_()) for w in weights if w.bias is not None
    ]

    seen, wanted = module.run(x), [x @ matrix + bias for matrix, bias in leaves]
    torch.stack(seen).square().sum().backward()
    torch.stack(wanted).square().sum().backward()

    for got, want in zip(seen, wanted, strict=True):
        assert torch.allclose(got, want, rtol=0, atol=1e-12)
    for name, (matrix, bias) in zip(_NAMES, leaves, strict=True):
        for key, leaf in ((name, matrix), (f"{name}.bias", bias)):
            gradient = binding.gradient(key, tuple(leaf.shape))
            assert gradient is not None
            assert torch.allclose(gradient, leaf.grad, rtol=0, atol=1e-12)
    assert binding.unused == ()


def _parameter() -> nn.Module:
    module = nn.Module()
    module.W_query = nn.Parameter(torch.zeros(_OUT, _OUT))
    return module


def _linear() -> nn.Module:
    module = nn.Module()
    module.W_query = nn.Linear(_OUT, _OUT, bias=False)
    return module


def _linear_under_two_names() -> nn.Module:
    module = nn.Module()
    module.both = nn.ModuleList([nn.Linear(_OUT, _OUT, bias=False)])
    module.W_query = module.both[0]
    return module


@pytest.mark.parametrize(("make", "is_layer"), [(_parameter, False), (_linear, True), (_linear_under_two_names, True)])
def test_what_is_square_lies_as_its_owner_says(make: Callable[[], nn.Module], is_layer: bool) -> None:
    """An nn.Linear is (out, in), under every name that it has; of a parameter nothing is transposed in doubt."""
    module, (weight, *_) = make(), _weights(bias=False, size_in=_OUT)

    bind(module, (weight,))

    (parameter,) = module.parameters()
    assert torch.equal(parameter.T if is_layer else parameter, weight.matrix)


def test_the_fourth_of_a_plain_list_is_the_output_projection() -> None:
    """Four layers in a list are query, key, value and output; a fifth one leaves a choice."""
    module, out = nn.Module(), Weight("W_out", numbers(_OUT, _OUT, seed=7), numbers(_OUT, seed=8))
    module.linears = nn.ModuleList([*(nn.Linear(_IN, _OUT) for _ in _NAMES), nn.Linear(_OUT, _OUT)])

    told = bind(module, (*_weights(), out)).describe()

    assert (told["W_value"], told["W_out.bias"]) == ("linears.2.weight", "linears.3.bias")
    assert torch.equal(module.linears[3].weight.T, out.matrix)
    module.linears.append(nn.Linear(_OUT, _OUT))
    assert bind(module, (*_weights(), out)).choices > 1


@pytest.mark.parametrize("shape", [(_IN,), (_IN, 1), (1, _IN)])
def test_a_vector_may_lie_in_three_ways(shape: tuple[int, ...]) -> None:
    """A projection to one feature is a column, a row, or a plain vector."""
    module, vector = nn.Module(), numbers(_IN, 1)
    module.v = nn.Parameter(torch.zeros(shape))

    bind(module, (Weight("v", vector),))

    assert torch.equal(module.v.flatten(), vector.flatten())


def test_superfluous_biases_are_zeroed_and_told() -> None:
    """Beside a layer, under a name of their own, and in a fused one."""
    for make, names in (
        (_own(*_NAMES), ("W_query.bias", "W_key.bias", "W_value.bias")),
        (_parameters((_IN, _OUT)), ("b_q", "b_k", "b_v")),
        (_parameter_dicts, ("b.query", "b.key", "b.value")),
        (_fused_linear, ("qkv.bias",)),
        (_in_proj, ("in_proj_bias",)),
    ):
        module = _Layout(make)
        for parameter in module.parameters():
            nn.init.ones_(parameter)

        binding = bind(module, _weights(bias=False))

        assert binding.zeroed == names
        assert not any(bool(dict(module.named_parameters())[name].any()) for name in names)


def _of(**parts: object) -> nn.Module:
    """Return a module with these attributes."""
    module = nn.Module()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


_REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "no bias": (
        lambda: _of(**{name: nn.Linear(_IN, _OUT, bias=False) for name in _NAMES}),
        r"a bias here, but `W_query.weight` has none; create .* `bias=True`$",
    ),
    "no name": (
        lambda: _of(parts=nn.ModuleList(nn.Linear(_IN, _OUT) for _ in range(2))),
        r"`W_query`, `W_key` or `W_value` is missing.*parts\.0\.weight \(6, 5\)",
    ),
    "layers in a plain list": (
        lambda: _of(heads=[nn.Linear(_IN, _OUT)]), r"`self.heads` is a plain list .* nn.ModuleList",
    ),
    "two of a name": (
        lambda: _of(first=_of(W_query=nn.Linear(_IN, _OUT)), second=_of(W_query=nn.Linear(_IN, _OUT))),
        r"exists more than once: first.W_query.weight, second.W_query.weight",
    ),
    "a wrong width": (
        lambda: _of(W_query=nn.Linear(_IN, _OUT + 1)),
        r"nn.Linear\(5, 6\) or an nn.Parameter of shape \(5, 6\); .* shape \(7, 5\)",
    ),
    "six columns over four heads": (
        lambda: _of(W_query=nn.ModuleList(nn.Linear(_IN, 2) for _ in range(4))),
        "has 6 columns, which cannot be split equally over 4 parts",
    ),
    "a lazy layer": (lambda: _of(W_query=nn.LazyLinear(_OUT)), r"`W_query.weight` has no shape yet"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize(("make", "words"), _REFUSED.values(), ids=_REFUSED)
def test_weights_without_a_place_are_refused_with_the_reason(make: Callable[[], nn.Module], words: str) -> None:
    """The text says what was looked for and what there is, and nothing is guessed."""
    with pytest.raises(Ungradable, match=words):
        bind(make(), _weights())


def test_a_missing_bias_is_told_with_the_argument_that_asks_for_it() -> None:
    """Where the constructor has one for that."""
    module = _of(**{name: nn.Linear(_IN, _OUT, bias=False) for name in _NAMES})
    asked = tuple(replace(weight, biased_by="qkv_bias") for weight in _weights())

    with pytest.raises(Ungradable, match=r"where `qkv_bias` is True, but .* has none; pass `qkv_bias` on to its layer"):
        bind(module, asked)


@pytest.mark.parametrize(("name", "buffer"), [("W_value", False), ("W_value", True), ("w_v", False)])
def test_a_weight_that_is_no_parameter_is_not_called_misnamed(name: str, buffer: bool) -> None:
    """It is there, and PyTorch does not train it: in the module itself, or in a part of it."""
    for depth in (0, 1):
        module = part = nn.Module()
        if depth:
            module.head = part = nn.Module()
        part.W_query, part.W_key = nn.Linear(_IN, _OUT), nn.Linear(_IN, _OUT)
        if buffer:
            part.register_buffer(name, torch.rand(_IN, _OUT))
        else:
            setattr(part, name, torch.rand(_IN, _OUT))

        with pytest.raises(Ungradable) as caught:
            bind(module, _weights())

        assert f"`self.{name}` is a {'buffer' if buffer else 'plain tensor'}" in str(caught.value)
        assert str(caught.value).endswith("wrap it in nn.Parameter.")
        assert "Name it" not in str(caught.value)


def test_a_frozen_parameter_takes_its_value_and_has_no_gradient() -> None:
    """Freezing shows in the gradients, not in the transfer."""
    module = _Layout(_own(*_NAMES))
    module.W_key.weight.requires_grad_(False)
    weights = _weights()

    binding = bind(module, weights)
    torch.stack(module.run(numbers(4, _IN))).sum().backward()

    assert torch.equal(module.W_key.weight.T, weights[1].matrix)
    assert binding.gradient("W_key", (_IN, _OUT)) is None
    assert binding.gradient("W_query", (_IN, _OUT)) is not None


def test_tied_projections_hold_one_value() -> None:
    """A layer used for two projections cannot hold both; the last one stays, and the numbers will show it."""
    module = _Layout(_own("W_query", "W_value"))
    module.W_key = module.W_query
    weights = _weights()

    bind(module, weights)

    assert torch.equal(module.W_query.weight.T, weights[1].matrix)


def test_the_mapping_is_told_in_words() -> None:
    """A student can read where each weight went."""
    told = bind(_Layout(_fused_linear), _weights()).describe()

    assert told["W_key"] == "qkv.weight (part 2 of 3)"
    assert told["W_key.bias"] == "qkv.bias"


def test_other_parameters_are_left_alone_and_told() -> None:
    """What the contract does not know keeps its value."""
    module = _Layout(_own(*_NAMES))
    module.gain = nn.Parameter(torch.full((2,), 3.0))

    binding = bind(module, _weights())

    assert binding.unused == ("gain (2,)",)
    assert module.gain.tolist() == [3.0, 3.0]
