"""Reading a model's attention weights with forward hooks, and classifying its heads by their pattern.

Notation: B batch, h heads, T words.
Sources: Clark et al., What Does BERT Look At? (2019), section 3, arXiv:1906.04341, for the patterns; PyTorch's
documentation of `nn.Module.register_forward_hook` for the way in.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

STANDS_OUT = 0.5


def attentions(model: nn.Module) -> list[nn.Module]:
    """Return the modules to watch, from the first layer to the last."""
    return [layer.attention for layer in model.layers]  # type: ignore[union-attr]  # what a model of this lab has


def weights_in(output: Any) -> Tensor:
    """Return the weights (B, h, T, T) from what an attention module returns."""
    return output[1]  # type: ignore[no-any-return]


def notebook(model: nn.Module) -> list[Tensor]:
    """Return the list that the hooks write to, a new one for each call."""
    return []


def watch(modules: list[nn.Module], found: list[Tensor]) -> list[Any]:
    """Register a hook on each module that appends its weights to `found`, and return the handles."""
    return [
        module.register_forward_hook(lambda _module, _inputs, output: found.append(weights_in(output)))
        for module in modules
    ]


def run(model: nn.Module, tokens: Tensor) -> None:
    """Run the model on the tokens once, without gradients."""
    with torch.no_grad():
        model(tokens)


def release(handles: list[Any]) -> None:
    """Remove the hooks."""
    for handle in handles:
        handle.remove()


def given_back(found: list[Tensor]) -> list[Tensor]:
    """Return the weights that were found."""
    return found


def extract_attention(model: nn.Module, tokens: Tensor) -> list[Tensor]:
    """Return the attention weights of every layer of `model` on `tokens`, (B, T).

    Returns:
        One tensor (B, h, T, T) for each layer, the first layer first; the model is left as it was.
    """
    found = notebook(model)
    handles = watch(attentions(model), found)
    try:
        run(model, tokens)
    finally:
        release(handles)
    return given_back(found)


def queries_that_count(words: int) -> Tensor:
    """Return the queries whose previous, next, own and first word are four different ones."""
    return torch.arange(2, words - 1)


def oriented(weights: Tensor) -> Tensor:
    """Return the weights with queries as rows and keys as columns, (h, T, T)."""
    return weights


def share(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return for each head the mean weight of each query's given key, (h,)."""
    return weights[:, queries, keys].mean(dim=-1)


def candidates(queries: Tensor) -> dict[str, Tensor]:
    """Return for each pattern the key that each query attends to."""
    return {
        "previous": queries - 1,
        "next": queries + 1,
        "self": queries,
        "first": torch.zeros_like(queries),
    }


def shares(weights: Tensor) -> dict[str, Tensor]:
    """Return how much of its weight each head of (h, T, T) gives to each pattern."""
    queries = queries_that_count(weights.shape[-1])
    return {name: share(oriented(weights), queries, keys) for name, keys in candidates(queries).items()}


def stands_out(largest: float) -> bool:
    """Return whether a head gives its strongest pattern enough weight to be named after it."""
    return largest >= STANDS_OUT


def name_of(found: dict[str, float]) -> str:
    """Return the name of a head with these shares."""
    strongest = max(found, key=lambda name: found[name])
    return strongest if stands_out(found[strongest]) else "uniform"


def classify_heads(weights: Tensor) -> list[str]:
    """Return the pattern of each head of (h, T, T): previous, next, self, first or uniform."""
    found = shares(weights)
    return [name_of({name: float(values[head]) for name, values in found.items()}) for head in range(len(weights))]
