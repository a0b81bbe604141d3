"""Observe: what a submission does becomes facts, whatever it does, and nothing of it stays behind."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.box.observations import Blame, BuildSeen, CallSeen, Observations, Presence, Raised, Stage
from grader.box.observe import default_dtype, observe
from grader.box.plan import Argument, Build, Call, Entry, Kind, Plan, TensorSpec, Weight
from grader.errors import ForbiddenCall
from tests.box.small import numbers

_SLOT = TensorSpec("output:y", ("time", "width"), (3, 4))


def _function_plan(**changes: Any) -> Plan:
    arguments: Mapping[str, Argument] = changes.pop("arguments", {"x": numbers(3, 4)})
    call = Call("c/base", None, arguments, (_SLOT,), (numbers(3, 4, seed=1),), ("x",))
    return Plan(Entry("f", Kind.FUNCTION, ("x",)), (), (replace(call, **changes),))


def _module_plan(*calls: Call) -> Plan:
    build = Build("b", {"width": 4}, (Weight("W_query", numbers(4, 4, seed=2)),))
    base = Call("c/base", "b", {"x": numbers(3, 4)}, (_SLOT,))
    return Plan(Entry("M", Kind.MODULE, ("x",), ("width",)), (build,), calls or (base,))


def _see(plan: Plan, **namespace: Any) -> Observations:
    return Observations.of(observe(plan, lambda: namespace))


def _call(plan: Plan, **namespace: Any) -> CallSeen:
    return _see(plan, **namespace).calls["c/base"]


class _Projection(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.W_query = nn.Linear(width, width, bias=False)
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return self.W_query(x) * self.count


def test_outputs_and_gradients_are_seen() -> None:
    """A plain function gives its values, and the gradient for the upstream of the plan."""
    plan = _function_plan()
    seen = _call(plan, f=lambda x: x * 3)

    output, gradient = seen.slots["output:y"].tensor, seen.slots["input:x"].tensor
    assert output is not None
    assert gradient is not None
    assert torch.equal(output, numbers(3, 4) * 3)
    assert torch.equal(gradient, numbers(3, 4, seed=1) * 3)


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


def _raises(error: BaseException) -> Any:
    def f(x: Tensor) -> Tensor:
        raise error

    return f


@pytest.mark.parametrize(
    ("error", "kind", "message", "blame"),
    [
        (ValueError("a\nb"), "ValueError", "a\nb", Blame.ERROR),
        (SystemExit(0), "SystemExit", "0", Blame.ERROR),
        (GeneratorExit(), "GeneratorExit", "", Blame.ERROR),
        (_Unprintable(), "_Unprintable", "(its message could not be read)", Blame.ERROR),
        (ForbiddenCall("torch.softmax"), "ForbiddenCall", str(ForbiddenCall("torch.softmax")), Blame.FORBIDDEN),
        (ValueError("m" * 9000), "ValueError", "m" * 2000, Blame.ERROR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_call_raises_becomes_a_fact(error: BaseException, kind: str, message: str, blame: Blame) -> None:
    """SystemExit and exceptions without a readable message are no exception to that."""
    assert _call(_function_plan(), f=_raises(error)).raised == Raised(Stage.CALL, blame, kind, message)


def test_an_interrupt_by_the_person_goes_through() -> None:
    """At a desk, Ctrl-C stops the grading and is not held against the code."""
    with pytest.raises(KeyboardInterrupt):
        _see(_function_plan(), f=_raises(KeyboardInterrupt()))


def test_a_file_that_fails_to_load_ends_it_all() -> None:
    """There is one fact, with the line of the syntax error."""

    def load() -> Mapping[str, Any]:
        raise SyntaxError("invalid syntax", ("<submission>", 7, 1, "x x"))

    assert list(observe(_function_plan(), load)) == [
        Raised(Stage.LOAD, Blame.ERROR, "SyntaxError", "invalid syntax", 7)
    ]


def test_a_constructor_that_raises_costs_the_calls_of_its_instance() -> None:
    """The construction is told once, its calls are left out."""

    class M(nn.Module):
        def __init__(self, width: int) -> None:
            raise ValueError("no")

    events = list(observe(_module_plan(), lambda: {"M": M}))

    assert events == [BuildSeen("b", raised=Raised(Stage.CONSTRUCT, Blame.ERROR, "ValueError", "no"))]


def test_weights_without_a_place_are_told_as_such() -> None:
    """The stage and the blame say that it is about weights."""

    class M(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()

    raised = _see(_module_plan(), M=M).builds["b"].raised

    assert raised is not None
    assert (raised.stage, raised.blame) == (Stage.TRANSFER, Blame.WEIGHTS)


def test_a_class_that_makes_no_module_is_told() -> None:
    """Weights can be given to an nn.Module only."""

    class M:
        def __init__(self, width: int) -> None: ...

    raised = _see(_module_plan(), M=M).builds["b"].raised

    assert raised is not None
    assert raised.message == "`M` must be an nn.Module; yours creates a M"


def test_a_backward_pass_that_raises_keeps_the_outputs() -> None:
    """What the forward pass gave is there, and so is the exception."""

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            raise RuntimeError("backward")

    seen = _call(_function_plan(), f=Broken.apply)

    assert seen.slots["output:y"].presence is Presence.TENSOR
    assert seen.raised is not None
    assert seen.raised.stage is Stage.BACKWARD


def test_a_graph_that_is_cut_has_no_gradient() -> None:
    """Detaching is no exception; the gradient is simply not there."""
    seen = _call(_function_plan(), f=lambda x: x.detach() * 3)

    assert seen.raised is None
    assert seen.slots["input:x"].presence is Presence.NONE


def test_writing_into_an_argument_is_noted_and_harmless() -> None:
    """It works, gradients included, and the next call gets its numbers fresh."""
    seen = _call(_function_plan(), f=lambda x: x.mul_(3))

    assert seen.modified == ("x",)
    assert seen.raised is None
    gradient = seen.slots["input:x"].tensor
    assert gradient is not None
    assert torch.equal(gradient, numbers(3, 4, seed=1) * 3)


def test_a_strided_call_gets_the_same_numbers_elsewhere_in_memory() -> None:
    """Values agree, contiguity does not."""
    facts: list[bool] = []

    def f(x: Tensor) -> Tensor:
        facts.append(x.is_contiguous())
        return x * 1

    seen = _call(_function_plan(non_contiguous=True), f=f)

    output = seen.slots["output:y"].tensor
    assert facts == [False]
    assert output is not None
    assert torch.equal(output, numbers(3, 4))


def test_the_default_dtype_is_the_calls_inside_and_restored_afterwards() -> None:
    """Also where the code itself changes it, at import or in a call."""
    inside: list[torch.dtype] = []

    def f(x: Tensor) -> Tensor:
        inside.append(torch.zeros(1).dtype)
        torch.set_default_dtype(torch.float16)
        return x * 1

    def load() -> Mapping[str, Any]:
        torch.set_default_dtype(torch.float16)
        return {"f": f}

    for dtype in ("float64", "float32"):
        list(observe(_function_plan(dtype=dtype), load))

    assert inside == [torch.float64, torch.float32]
    assert torch.get_default_dtype() == torch.float32


def test_floating_point_arguments_follow_the_calls_dtype() -> None:
    """Masks keep theirs."""
    plan = _function_plan(arguments={"x": numbers(3, 4), "mask": torch.ones(2, dtype=torch.bool)}, dtype="bfloat16")
    plan = replace(plan, entry=replace(plan.entry, arguments=("x", "mask")))
    dtypes: list[torch.dtype] = []

    _see(plan, f=lambda x, mask: dtypes.extend((x.dtype, mask.dtype)))

    assert dtypes == [torch.bfloat16, torch.bool]


def test_gradients_flow_although_the_file_turned_them_off() -> None:
    """`torch.set_grad_enabled(False)` at import is a habit, not an answer."""

    def load() -> Mapping[str, Any]:
        torch.set_grad_enabled(False)
        return {"f": lambda x: x * 3}

    try:
        seen = Observations.of(observe(_function_plan(), load)).calls["c/base"]
    finally:
        torch.set_grad_enabled(True)

    assert seen.slots["input:x"].presence is Presence.TENSOR


def test_an_instance_serves_all_its_calls() -> None:
    """State that a module keeps between calls shows, and it is constructed once."""
    base = _module_plan().calls[0]
    seen = _see(_module_plan(base, replace(base, name="c/again")), M=_Projection)
    first, second = (seen.calls[name].slots["output:y"].tensor for name in ("c/base", "c/again"))

    assert list(seen.builds) == ["b"]
    assert first is not None
    assert second is not None
    assert torch.equal(second, first * 2)


def test_modes_are_set_for_each_call() -> None:
    """Training mode where the call asks for it, evaluation mode else."""
    modes: list[bool] = []

    class M(_Projection):
        def forward(self, x: Tensor) -> Tensor:
            modes.append(self.training)
            return x * 1

    base = _module_plan().calls[0]
    _see(_module_plan(base, replace(base, name="t", training=True), replace(base, name="e")), M=M)

    assert modes == [False, True, False]


def test_random_draws_follow_the_calls_seed() -> None:
    """The same seed gives the same draws, another seed others."""
    base = _module_plan().calls[0]
    calls = (base, replace(base, name="same"), replace(base, name="other", seed=1))

    class M(_Projection):
        def forward(self, x: Tensor) -> Tensor:
            return torch.rand(3, 4)

    seen = _see(_module_plan(*calls), M=M).calls
    one, same, other = (seen[call.name].slots["output:y"].tensor for call in calls)

    assert one is not None
    assert same is not None
    assert other is not None
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_what_a_module_holds_is_told() -> None:
    """Tensors that are neither buffers nor parameters are listed; buffers are as they should be."""

    class M(_Projection):
        def __init__(self, width: int) -> None:
            super().__init__(width)
            self.register_buffer("mask", torch.ones(2), persistent=False)
            self.tril = torch.ones(2)

    built = _see(_module_plan(), M=M).builds["b"]

    assert built.loose == ("tril",)
    assert built.mapping == {"W_query": "W_query.weight"}


def test_a_refused_construction_must_raise_and_is_tried_last() -> None:
    """No call follows it; what it does is told like any construction."""
    plan = _module_plan()
    plan = replace(plan, builds=(*plan.builds, Build("odd", {"width": 5}, must_raise=True)))

    class Choosy(_Projection):
        def __init__(self, width: int) -> None:
            assert width % 2 == 0
            super().__init__(width)

    assert _see(plan, M=_Projection).builds["odd"].raised is None
    assert _see(plan, M=Choosy).builds["odd"].raised is not None


def test_instances_are_kept_also_of_builds_without_a_call() -> None:
    """Whoever compares instances before and after the calls finds the same ones in both."""
    plan, built, called = _module_plan(), {}, {}
    list(observe(replace(plan, calls=()), lambda: {"M": _Projection}, built))
    list(observe(plan, lambda: {"M": _Projection}, called))

    assert list(built) == list(called) == ["b"]
    assert all(instance is not None for instance in (*built.values(), *called.values()))


def test_too_few_and_too_many_results_are_told() -> None:
    """A missing second result is nothing; a wrong number of results is described as it is."""
    two = (_SLOT, TensorSpec("output:weights", (), (1,)))
    plan = _function_plan(outputs=two, grad_outputs=(), wants=())

    for result, first, second in (
        (numbers(3, 4), Presence.TENSOR, "nothing"),
        ((1, 2, 3), "a tuple of 3", "nothing"),
        ({"y": 1}, "a dict of 1", "nothing"),
        ([numbers(3, 4), None], Presence.TENSOR, "None"),
    ):
        slots = _call(plan, f=lambda x, result=result: result).slots
        found = slots["output:y"]
        assert (found.what or found.presence, slots["output:weights"].what) == (first, second)


def test_entry_points_are_looked_up_by_name() -> None:
    """A near miss is named, a wrong kind is told, and a file without anything of its own too."""

    class SelfAttentionV2(nn.Module): ...

    SelfAttentionV2.__module__ = "submission"
    module = replace(_module_plan(), entry=Entry("SelfAttention", Kind.MODULE, ("x",)))
    for plan, namespace, words in (
        (module, {"SelfAttentionV2": SelfAttentionV2}, "it defines `SelfAttentionV2`; if that is it, rename it"),
        (module, {"Other": SelfAttentionV2}, "it defines `Other`"),
        (module, {"nn": nn}, "it defines nothing"),
        (module, {"SelfAttention": len}, "`SelfAttention` must be a class; yours is a builtin_function_or_method"),
        (_function_plan(), {"f": 3}, "`f` must be a function; yours is a int"),
    ):
        loading = _see(plan, **namespace).loading
        assert loading is not None
        assert loading.blame is Blame.ENTRY
        assert words in loading.message


def test_nobody_seeds_while_another_draws() -> None:
    """Torch's generator belongs to the process: a construction in another thread waits until a call is through."""
    other = threading.Thread(target=_see, args=(_module_plan(),), kwargs={"M": _Projection})
    with default_dtype("float64"):
        torch.manual_seed(5)
        expected = torch.rand(8)
        torch.manual_seed(5)
        other.start()
        other.join(timeout=0.3)  # time enough for a construction that does not wait
        drawn = torch.rand(8)
    other.join()

    assert torch.equal(drawn, expected)
