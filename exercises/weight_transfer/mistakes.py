"""What students get wrong in carrying weights over."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="turned", dimension="shapes")
def not_turned(weight: Tensor) -> Tensor:
    """You copy the weights of the layers as they lie.

    nn.Linear keeps its weight as (d_out, d_in) and multiplies with its transpose; the target's parameters are
    (d_in, d_out). With equal widths nothing complains, and the output is wrong all the same.
    """
    return weight


@mistake(replaces="turned", dimension="numerics")
def reshaped(weight: Tensor) -> Tensor:
    """You reshape the weights where they have to be transposed.

    `reshape` and `view` keep the numbers in their order and cut the rows elsewhere. The shape is right then, and the
    numbers sit in the wrong places.
    """
    return weight.reshape(weight.shape[1], weight.shape[0])


@mistake(replaces="carry", dimension="numerics")
def shared_memory(source: nn.Module, target: nn.Module, name: str) -> None:
    """Source and target share memory after your transfer.

    A transpose, `.data` and `detach()` are views: whoever trains the source afterwards changes the target with it.
    """
    target.get_parameter(name).data = source.get_parameter(f"{name}.weight").data.T


@mistake(replaces="put", dimension="gradients")
def frozen(target: nn.Module, name: str, matrix: Tensor) -> None:
    """The target's weights cannot be trained any more.

    They have the right numbers, but ask for no gradient. Look at `requires_grad` of what you put into the target.
    """
    setattr(target, name, nn.Parameter(matrix, requires_grad=False))


@mistake(replaces="put", dimension="gradients")
def frozen_values(target: nn.Module, name: str, matrix: Tensor) -> None:
    """One of the target's weights, W_value, cannot be trained any more.

    It has the right numbers, but asks for no gradient. Treat all three weights in the same way.
    """
    setattr(target, name, nn.Parameter(matrix, requires_grad=name != "W_value"))


@mistake(replaces="put", dimension="numerics")
def nothing_written(target: nn.Module, name: str, matrix: Tensor) -> None:
    """Your function leaves the target as it was.

    Assigning to a local variable gives a name to something else; it writes nothing into a module. Write into the
    parameter, or assign to the target's attribute.
    """


@mistake(replaces="put", dimension="numerics")
def added_up(target: nn.Module, name: str, matrix: Tensor) -> None:
    """You add the source's weights to those that the target had.

    The target's own numbers have to go. Look for `+=` or `add_` where something is to be overwritten.
    """
    with torch.no_grad():
        target.get_parameter(name).add_(matrix)


@mistake(replaces="put", dimension="numerics")
def averaged(target: nn.Module, name: str, matrix: Tensor) -> None:
    """You mix the source's weights with those that the target had.

    The target must become what the source is, not something between the two.
    """
    with torch.no_grad():
        target.get_parameter(name).lerp_(matrix, 0.5)


@mistake(replaces="origin", dimension="numerics")
def queries_and_keys_swapped(name: str) -> str:
    """W_query and W_key have changed places.

    The scores then come out transposed. Check, for each of the three, which layer it is filled from.
    """
    return {"W_query": "W_key", "W_key": "W_query"}.get(name, name)


@mistake(replaces="origin", dimension="numerics")
def keys_and_values_swapped(name: str) -> str:
    """W_key and W_value have changed places.

    Check, for each of the three, which layer it is filled from.
    """
    return {"W_value": "W_key", "W_key": "W_value"}.get(name, name)


@mistake(replaces="origin", dimension="numerics")
def all_from_the_queries(name: str) -> str:
    """All three weights of the target come from the source's W_query.

    A line that was copied and not changed does that. Each weight has a layer of its own.
    """
    return "W_query"


@mistake(replaces="origin", dimension="numerics")
def keys_from_the_queries(name: str) -> str:
    """The target's W_key comes from the source's W_query.

    A line that was copied and only half changed does that.
    """
    return "W_query" if name == "W_key" else name


@mistake(replaces="names", dimension="numerics")
def values_forgotten() -> tuple[str, ...]:
    """You carry queries and keys over, and leave W_value as it was.

    The weights of the attention then agree, and what they mix does not.
    """
    return "W_query", "W_key"


@mistake(replaces="names", dimension="numerics")
def keys_forgotten() -> tuple[str, ...]:
    """You carry queries and values over, and leave W_key as it was.

    Count the weights of the target, and those that your function touches.
    """
    return "W_query", "W_value"


@mistake(replaces="names", dimension="numerics")
def queries_only() -> tuple[str, ...]:
    """You carry W_query over and nothing else.

    If there is a loop, look whether it is left after its first round.
    """
    return ("W_query",)


@mistake(replaces="carry", dimension="numerics")
def wrong_way_round(source: nn.Module, target: nn.Module, name: str) -> None:
    """You copy the target's weights into the source.

    The outputs agree afterwards, but the source has lost its own weights. Which of the two arguments is to change?
    """
    with torch.no_grad():
        source.get_parameter(f"{name}.weight").copy_(target.get_parameter(name).T)


@mistake(replaces="carry", dimension="numerics")
def exchanged(source: nn.Module, target: nn.Module, name: str) -> None:
    """You exchange the weights of source and target.

    The source must be what it was before: copy, and leave the original in its place.
    """
    weight, own = source.get_parameter(f"{name}.weight"), target.get_parameter(name)
    with torch.no_grad():
        kept = own.clone()
        own.copy_(weight.T)
        weight.copy_(kept.T)


@mistake(replaces="copied", dimension="numerics")
def rounded(matrix: Tensor) -> Tensor:
    """Your weights lose digits on the way.

    They pass through a type with fewer digits, half precision or lower. Copy tensors as tensors: no `.half()`,
    no rounding, no printing and reading back.
    """
    return matrix.detach().to(torch.float16).to(matrix)


@mistake(replaces="copied", dimension="numerics")
def rounded_to_single(matrix: Tensor) -> Tensor:
    """Your weights are rounded to float32 on the way.

    The modules may be float64. Copy without naming a type, or take the type from the weight itself.
    """
    return matrix.detach().to(torch.float32).to(matrix)


@mistake(replaces="turned", dimension="numerics")
def turned_only_where_it_must(weight: Tensor) -> Tensor:
    """You transpose only where the shapes make you do so.

    A square matrix fits either way round, and is wrong the one way. The layer keeps the transpose of what the target
    needs, whatever the widths are.
    """
    return weight if weight.shape[0] == weight.shape[1] else weight.T


@mistake(replaces="carry", dimension="shapes")
def source_turned_as_well(source: nn.Module, target: nn.Module, name: str) -> None:
    """You turn the source's own matrix round.

    Assigning to `weight.data` changes the layer itself. The source must stay what it was: turn a copy.
    """
    weight = source.get_parameter(f"{name}.weight")
    weight.data = weight.data.T
    with torch.no_grad():
        target.get_parameter(name).copy_(weight)


@mistake(replaces="turned", dimension="numerics")
def inverted(weight: Tensor) -> Tensor:
    """You invert the matrix, where it has to be transposed.

    The target multiplies from the other side, so rows and columns change places. Inverting undoes what the layer does.
    """
    return torch.linalg.pinv(weight)
