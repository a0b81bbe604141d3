"""Inputs: the same seed gives the same tensors, and every mask leaves something to see."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.box.plan import Argument
from grader.exercise.catalog import ROOT, Catalog
from grader.exercise.inputs import Case, generator, make_case, normal, shape_of
from grader.exercise.spec import CaseSpec, EntrySpec, InputSpec, ReturnSpec, Spec, WeightSpec

_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))


def _tensors(case: Case) -> list[Tensor]:
    own = [value for value in case.arguments.values() if isinstance(value, Tensor)]
    weights = [tensor for weight in case.weights for tensor in (weight.matrix, weight.bias) if tensor is not None]
    return [*own, *weights, *(gradient for gradient in case.grad_outputs if gradient is not None)]


def _is_drawn(case: Case) -> bool:
    return any(tensor.is_floating_point() for tensor in _tensors(case)[:1])


def _equal(one: Case, other: Case) -> bool:
    pairs = zip(_tensors(one), _tensors(other), strict=True)
    return all(a.shape == b.shape and torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("name", _EXERCISES)
def test_cases_depend_on_the_seed_and_on_nothing_else(name: str, catalog: Catalog) -> None:
    """Not on the default dtype, not on torch's own generator, not on what was drawn before."""
    first = catalog[name].cases(5)
    torch.manual_seed(99)
    torch.set_default_dtype(torch.float16)
    try:
        again, other = catalog[name].cases(5), catalog[name].cases(6)
    finally:
        torch.set_default_dtype(torch.float32)

    assert all(_equal(first[case], again[case]) for case in first)
    assert not any(_equal(first[case], other[case]) for case in first if _is_drawn(first[case]))


@pytest.mark.parametrize("name", _EXERCISES)
def test_everything_is_drawn_in_float64(name: str, catalog: Catalog) -> None:
    """Floating-point tensors are float64, whatever precision a case is about."""
    for case in catalog[name].cases(0).values():
        assert {t.dtype for t in _tensors(case) if t.is_floating_point()} <= {torch.float64}


@pytest.mark.parametrize("name", _EXERCISES)
def test_cases_of_one_construction_share_their_weights(name: str, catalog: Catalog) -> None:
    """One instance serves them all, so they must agree on what it holds."""
    held: dict[str, Case] = {}
    for case in catalog[name].cases(0).values():
        build = case.build
        if build is not None and (first := held.setdefault(build.name, case)) is not case:
            pairs = zip(first.weights, case.weights, strict=True)
            assert all(torch.equal(a.matrix, b.matrix) for a, b in pairs), (first.name, case.name)


def test_different_names_draw_independently() -> None:
    """Adding a case leaves the others as they were."""
    one, other = (normal((50,), generator(0, name)) for name in ("small", "large"))

    assert not torch.equal(one, other)
    assert torch.equal(one, normal((50,), generator(0, "small")))


def _spec(kind: str) -> Spec:
    return Spec(
        format_version=1,
        title="t",
        summary="s",
        track="t",
        order=1,
        difficulty="easy",
        minutes=1,
        sources=("s",),
        entry=EntrySpec(name="f", kind="function", arguments=("x", "mask")),
        inputs={"mask": InputSpec(axes=("batch", "1", "queries", "keys"), kind=kind)},
        returns={"y": ReturnSpec(axes=("batch",))},
        cases=(CaseSpec(name="c", title="c", sizes={"batch": 1}),),
        checks=({"check": "shape", "points": 100, "cases": ("c",)},),
    )


def _mask(kind: str, batch: int, keys: int) -> Argument:
    case = CaseSpec(name="c", title="c", sizes={"batch": batch, "queries": keys, "keys": keys})
    return make_case(_spec(kind), case, seed=0).arguments["mask"]


@pytest.mark.parametrize("kind", ["causal", "padding", "causal_padding"])
@pytest.mark.parametrize(("batch", "keys"), [(1, 1), (2, 2), (3, 4), (7, 3), (5, 11)])
def test_every_row_of_a_mask_sees_something(kind: str, batch: int, keys: int) -> None:
    """No contract says what attention to nothing is."""
    mask = _mask(kind, batch, keys)

    assert isinstance(mask, Tensor)
    assert mask.dtype == torch.bool
    assert bool(mask.any(-1).all())


def test_padding_hides_something_different_in_each_row() -> None:
    """Else a mask of the wrong sentence would not show."""
    mask = _mask("padding", 3, 6)

    assert isinstance(mask, Tensor)
    lengths = mask[:, 0, 0].sum(-1).tolist()
    assert len(set(lengths)) == 3
    assert max(lengths) < 6


@pytest.mark.parametrize(("kind", "first"), [("padding", 0), ("causal_padding", 1)])
def test_padding_is_not_always_at_the_end(kind: str, first: int) -> None:
    """Else code that only counts how many keys a row sees, or always opens key 0, would pass for right."""
    mask = _mask(kind, 2, 6)

    assert isinstance(mask, Tensor)
    assert not bool(mask[1, ..., first].any())
    assert bool(mask[1, 0, -1, -1])


def test_no_mask_is_none() -> None:
    """The argument is there, and it is None."""
    assert _mask("none", 2, 3) is None


def test_shapes_follow_named_axes() -> None:
    """Names, numbers, products, sums of them, and leading axes that a case chooses."""
    sizes = {"num_heads": 3, "d_v": 5, "...": [2, 7]}

    assert shape_of(("...", "1", "num_heads*d_v", "d_v"), sizes) == (2, 7, 1, 15, 5)
    assert shape_of(("2*d_v+1", "num_heads + d_v*2"), sizes) == (11, 13)
    assert shape_of(("...",), {"...": []}) == ()


def test_a_bias_may_depend_on_a_constructor_argument() -> None:
    """The contract's default decides where a case says nothing."""
    entry = EntrySpec(
        name="M", kind="module", arguments=("mask",), constructor=("d", "qkv_bias"), defaults={"qkv_bias": False}
    )
    weights = {"W_query": WeightSpec(inputs="d", outputs="d", bias="qkv_bias")}
    spec = _spec("none").model_copy(update={"entry": entry, "weights": weights})
    plain = CaseSpec(name="c", title="c", sizes={"d": 3, "batch": 2, "queries": 4, "keys": 4})
    biased = plain.model_copy(update={"constructor": {"qkv_bias": True}})

    assert make_case(spec, plain, seed=0).weights[0].bias is None
    assert make_case(spec, biased, seed=0).weights[0].bias is not None
