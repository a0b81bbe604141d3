"""What students get wrong in carrying weights over."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="turned", dimension="shapes")
def not_turned(weight: Tensor) -> Tensor:
    """You copy the weights without transposing them.

    `nn.Linear` stores its weight as (d_out, d_in) and multiplies by the transpose; the target's parameters are (d_in,
    d_out). With equal widths there is no error, but the output is wrong.
    """
    return weight


@mistake(replaces="turned", dimension="numerics")
def reshaped(weight: Tensor) -> Tensor:
    """You reshape the weights instead of transposing them.

    `reshape` and `view` keep the order of the numbers. The shape is right, but the numbers are in the wrong places.
    """
    return weight.reshape(weight.shape[1], weight.shape[0])


@mistake(replaces="carry", dimension="numerics")
def shared_memory(source: nn.Module, target: nn.Module, name: str) -> None:
    """Source and target share memory after your transfer.

    A transpose, `.data` and `detach()` share memory with the original, so training the source also changes the target.
    Copy the numbers, for example with `clone()` or `copy_`.
    """
    target.get_parameter(name).data = source.get_parameter(f"{name}.weight").data.T


@mistake(replaces="put", dimension="gradients")
def frozen(target: nn.Module, name: str, matrix: Tensor) -> None:
    """The target's parameters can no longer be trained.

    The numbers are right, but the parameters require no gradient. Check `requires_grad` of what you assign to the
    target.
    """
    setattr(target, name, nn.Parameter(matrix, requires_grad=False))


@mistake(replaces="put", dimension="gradients")
def frozen_values(target: nn.Module, name: str, matrix: Tensor) -> None:
    """The target's W_value can no longer be trained.

    The numbers are right, but the parameter requires no gradient. Treat all three parameters in the same way.
    """
    setattr(target, name, nn.Parameter(matrix, requires_grad=name != "W_value"))


@mistake(replaces="put", dimension="numerics")
def nothing_written(target: nn.Module, name: str, matrix: Tensor) -> None:
    """Your function does not change the target.

    Assigning to a local variable does not change a module. Write into the parameter, or assign to the target's
    attribute.
    """


@mistake(replaces="put", dimension="numerics")
def added_up(target: nn.Module, name: str, matrix: Tensor) -> None:
    """You add the source's weights to those of the target.

    The target's own numbers must be replaced. Look for `+=` or `add_`.
    """
    with torch.no_grad():
        target.get_parameter(name).add_(matrix)


@mistake(replaces="put", dimension="numerics")
def averaged(target: nn.Module, name: str, matrix: Tensor) -> None:
    """You average the weights of source and target.

    The target's weights must equal those of the source.
    """
    with torch.no_grad():
        target.get_parameter(name).lerp_(matrix, 0.5)


@mistake(replaces="origin", dimension="numerics")
def queries_and_keys_swapped(name: str) -> str:
    """You swap W_query and W_key.

    The scores are then transposed. For each of the three parameters, check which layer you copy from.
    """
    return {"W_query": "W_key", "W_key": "W_query"}.get(name, name)


@mistake(replaces="origin", dimension="numerics")
def keys_and_values_swapped(name: str) -> str:
    """You swap W_key and W_value.

    For each of the three parameters, check which layer you copy from.
    """
    return {"W_value": "W_key", "W_key": "W_value"}.get(name, name)


@mistake(replaces="origin", dimension="numerics")
def all_from_the_queries(name: str) -> str:
    """You copy all three of the target's parameters from the source's W_query.

    Look for a line that was copied and not changed. Each parameter has its own layer.
    """
    return "W_query"


@mistake(replaces="origin", dimension="numerics")
def keys_from_the_queries(name: str) -> str:
    """You copy the target's W_key from the source's W_query.

    Look for a line that was copied and not fully changed.
    """
    return "W_query" if name == "W_key" else name


@mistake(replaces="names", dimension="numerics")
def values_forgotten() -> tuple[str, ...]:
    """You do not copy W_value.

    W_query and W_key are right, so the attention weights agree, but the values do not.
    """
    return "W_query", "W_key"


@mistake(replaces="names", dimension="numerics")
def keys_forgotten() -> tuple[str, ...]:
    """You do not copy W_key.

    The target has three parameters: copy all of them.
    """
    return "W_query", "W_value"


@mistake(replaces="names", dimension="numerics")
def queries_only() -> tuple[str, ...]:
    """You copy only W_query.

    If you use a loop, check whether it ends after the first iteration.
    """
    return ("W_query",)


@mistake(replaces="carry", dimension="numerics")
def wrong_way_round(source: nn.Module, target: nn.Module, name: str) -> None:
    """You copy the target's weights into the source.

    The outputs agree, but the source has lost its own weights. Check which of the two arguments you write to.
    """
    with torch.no_grad():
        source.get_parameter(f"{name}.weight").copy_(target.get_parameter(name).T)


@mistake(replaces="carry", dimension="numerics")
def exchanged(source: nn.Module, target: nn.Module, name: str) -> None:
    """You exchange the weights of source and target.

    The source must not change: copy its weights.
    """
    weight, own = source.get_parameter(f"{name}.weight"), target.get_parameter(name)
    with torch.no_grad():
        kept = own.clone()
        own.copy_(weight.T)
        weight.copy_(kept.T)


@mistake(replaces="copied", dimension="numerics")
def rounded(matrix: Tensor) -> Tensor:
    """Your weights lose precision in the copy.

    They pass through a dtype with lower precision, such as half. Copy tensors directly: no `.half()`, no rounding, no
    conversion to text.
    """
    return matrix.detach().to(torch.float16).to(matrix)


@mistake(replaces="copied", dimension="numerics")
def rounded_to_single(matrix: Tensor) -> Tensor:
    """You round the weights to float32.

    The modules may be float64. Copy without naming a dtype, or use the dtype of the weight itself.
    """
    return matrix.detach().to(torch.float32).to(matrix)


@mistake(replaces="turned", dimension="numerics")
def turned_only_where_it_must(weight: Tensor) -> Tensor:
    """You transpose only if the shapes require it.

    A square matrix also fits without a transpose, but is wrong. Always transpose, whatever the widths are.
    """
    return weight if weight.shape[0] == weight.shape[1] else weight.T


@mistake(replaces="carry", dimension="shapes")
def source_turned_as_well(source: nn.Module, target: nn.Module, name: str) -> None:
    """You transpose the source's own matrix.

    Assigning to `weight.data` changes the layer. The source must not change: transpose a copy.
    """
    weight = source.get_parameter(f"{name}.weight")
    weight.data = weight.data.T
    with torch.no_grad():
        target.get_parameter(name).copy_(weight)


@mistake(replaces="turned", dimension="numerics")
def inverted(weight: Tensor) -> Tensor:
    """You invert the matrix instead of transposing it.

    The target needs the transpose, in which rows and columns are swapped. The inverse undoes the layer.
    """
    return torch.linalg.pinv(weight)
