"""Several entry points in one file, and models of ours that are looked into."""

from __future__ import annotations

import torch

from grader.box.inline import InlineBox
from grader.box.observations import Blame, CallSeen, Presence
from grader.box.plan import Build, Call, Entry, Kind, Plan, TensorSpec
from grader.box.run import Limits, Run
from grader.box.wire.job import decode_job, encode_job

TOKENS = torch.tensor([[3, 1, 4], [1, 5, 2]])
SIZES = {"vocab_size": 7, "width": 6, "num_heads": 3, "num_layers": 2, "time": 5}
LOOK = "def look(model, tokens):\n"
NAME = "def name(weights):\n    return ['odd'] * len(weights)\n"
LEFT = tuple(
    TensorSpec(f"output:{name}", (), (), "int64") for name in ("hooks", "parameters", "modes", "gradients", "frozen")
)
FOUND = (TensorSpec("output:weights", (), (2, 2, 3, 3, 3)), TensorSpec("output:logits", (), (2, 3, 7)))


def plan(outputs: tuple[TensorSpec, ...] = FOUND) -> Plan:
    """Return a plan with a function that looks into a model, and one that names things."""
    look = Entry("look", Kind.INSPECT, ("model", "tokens"), tuple(SIZES), driver="attention_patterns.Hooks")
    parts = {"names": Entry("name", Kind.FUNCTION, ("weights",), driver="attention_patterns.Names")}
    arguments = {"weights": torch.zeros(2, 3, 3, dtype=torch.float64), "names": "even odd"}
    calls = (
        Call("model/base", "reader", {"tokens": TOKENS}, outputs),
        Call("names/base", None, arguments, (TensorSpec("output:names", ("heads",), (2,), "int64"),), part="names"),
    )
    return Plan(look, (Build("reader", SIZES),), calls, parts=parts)


def run(look: str, *, naming: str = NAME, outputs: tuple[TensorSpec, ...] = FOUND) -> Run:
    """Run the plan on `look`, the indented body of the function, after it has travelled."""
    again, source = decode_job(encode_job(plan(outputs), f"{LOOK}    {look}\n\n\n{naming}"))
    return InlineBox().run(again, source, Limits())


def looked(look: str, outputs: tuple[TensorSpec, ...] = FOUND) -> CallSeen:
    """Return what is seen of the call with the model."""
    return run(look, outputs=outputs).observations.calls["model/base"]


def counts(look: str) -> list[int]:
    """Return what was left behind."""
    seen = looked(f"{look}; return []", LEFT)
    assert seen.raised is None
    return [int(slot.tensor) for slot in seen.slots.values() if slot.tensor is not None]


def test_each_part_is_called_by_its_own_driver() -> None:
    """The one gets a model and gives tensors, the other gets tensors and gives names, which become numbers."""
    calls = run("return [layer.attention(model.embedding(tokens))[1] for layer in model.layers]").observations.calls

    weights = calls["model/base"].slots["output:weights"]
    assert weights.presence is Presence.TENSOR
    torch.testing.assert_close(weights.tensor.sum(-1), torch.ones(2, 2, 3, 3, dtype=torch.float64))  # type: ignore[union-attr]
    assert calls["names/base"].slots["output:names"].tensor.tolist() == [1, 1]  # type: ignore[union-attr]


def test_every_part_must_be_there() -> None:
    """A file that lacks the second entry point is rejected, and told which one."""
    loading = run("return []", naming="").observations.loading

    assert loading is not None
    assert (loading.blame, "`name`" in loading.message) == (Blame.ENTRY, True)


def test_a_name_that_there_is_not_is_told() -> None:
    """The message lists the names that there are."""
    raised = (
        run("return []", naming="def name(weights):\n    return ['evn', 'odd']").observations.calls["names/base"].raised
    )

    assert raised is not None
    assert raised.message == "`name` must name each with one of `even`, `odd`; yours says 'evn'"


def test_only_a_list_of_tensors_of_one_shape_is_taken() -> None:
    """One tensor, other things in the list, and different shapes are told apart."""
    said = [
        looked(f"import torch; return {result}").raised
        for result in ("torch.zeros(2)", "[torch.zeros(2), 3]", "[torch.zeros(2), torch.zeros(3)]", "[]")
    ]

    assert [raised.message.partition("yours ")[2] for raised in said if raised is not None] == [
        "returns a Tensor",
        "holds a int",
        "holds tensors of the shapes (2,), (3,)",
        "holds nothing",
    ]


def test_what_is_left_behind_is_counted() -> None:
    """Each kind by itself: hooks and replaced methods, values, modes, gradients, and what is frozen."""
    assert counts("model(tokens)") == [0, 0, 0, 0, 0]
    assert counts("model.register_forward_hook(print); model.output.forward = print") == [2, 0, 0, 0, 0]
    assert counts("model.output.bias.data += 1") == [0, 1, 0, 0, 0]
    assert counts("model.output.train()") == [0, 0, 1, 0, 0]
    assert counts("model.output(model.embedding(tokens)).sum().backward()") == [0, 0, 0, 3, 0]
    assert counts("model.output.requires_grad_(False)") == [0, 0, 0, 0, 2]
    assert counts("import torch; torch.set_grad_enabled(False)") == [0, 0, 0, 0, 1]
