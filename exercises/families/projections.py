"""Mistakes in the projections to queries, keys and values, with linear layers or bare parameters.

All replace `project(self, x)`, which returns queries, keys and values computed with `W_query`, `W_key` and `W_value`.
Later steps may split them into `self.num_heads` heads.
"""

from __future__ import annotations

import math
from typing import Any, cast

import torch.nn.functional as F
from torch import Tensor, nn

from grader.exercise.mistakes import mistake

Projections = tuple[Tensor, Tensor, Tensor]


@mistake(replaces="project", dimension="numerics")
def keys_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """You swap W_key and W_value.

    You use the output of W_value as keys, and the output of W_key as values. Check where each of the two is used. If
    you unpack or chunk several at once, check the order.
    """
    return through(self.W_query, x), through(self.W_value, x), through(self.W_key, x)


@mistake(replaces="project", dimension="numerics")
def queries_and_keys_swapped(self: Any, x: Tensor) -> Projections:
    """You swap W_query and W_key.

    The shapes fit, so there is no error. Check the lines that compute queries and keys. If you unpack or chunk several
    at once, check the order.
    """
    return through(self.W_key, x), through(self.W_query, x), through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def queries_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """You swap W_query and W_value.

    You use the output of W_value as queries, and the output of W_query as values. Check where each of the two is used.
    If you unpack or chunk several at once, check the order.
    """
    return through(self.W_value, x), through(self.W_key, x), through(self.W_query, x)


@mistake(replaces="project", dimension="numerics")
def one_projection_for_all(self: Any, x: Tensor) -> Projections:
    """You use one projection for queries, keys and values.

    All three come from W_query. Look for a line that was copied and not changed.
    """
    same = through(self.W_query, x)
    return same, same, same


@mistake(replaces="project", dimension="numerics")
def query_weights_for_the_keys(self: Any, x: Tensor) -> Projections:
    """You project the keys with W_query.

    Queries and keys use the same parameters, and W_key is never used. Check the line that computes the keys.
    """
    same = through(self.W_query, x)
    return same, same, through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def mixes_the_keys(self: Any, x: Tensor) -> Projections:
    """You multiply the weights by the keys instead of the values.

    The attention weights are right. Check the last product, and which layer your values come from.
    """
    keys = through(self.W_key, x)
    return through(self.W_query, x), keys, keys


@mistake(replaces="project", dimension="numerics")
def mixes_the_queries(self: Any, x: Tensor) -> Projections:
    """You multiply the weights by the queries instead of the values.

    The attention weights are right. Check the last product, and which layer your values come from.
    """
    queries = through(self.W_query, x)
    return queries, through(self.W_key, x), queries


@mistake(replaces="project", dimension="shapes")
def mixes_the_inputs(self: Any, x: Tensor) -> Projections:
    """You multiply the weights by the inputs instead of the values.

    Your last product uses x itself, so your output is as wide as x. Use x projected with W_value.
    """
    return through(self.W_query, x), through(self.W_key, x), x


@mistake(replaces="project", dimension="numerics")
def biases_ignored(self: Any, x: Tensor) -> Projections:
    """The biases of your query, key and value projections have no effect.

    If the projections have biases, your code does not add them. If you multiply by `layer.weight` yourself, the bias is
    missing; call the layer instead.
    """
    return F.linear(x, self.W_query.weight), F.linear(x, self.W_key.weight), F.linear(x, self.W_value.weight)


@mistake(replaces="project", dimension="numerics")
def value_bias_ignored(self: Any, x: Tensor) -> Projections:
    """The bias of W_value has no effect.

    Either all three projections have a bias, or none. Compare the line that computes the values with the other two.
    """
    return self.W_query(x), self.W_key(x), F.linear(x, self.W_value.weight)


@mistake(replaces="project", dimension="numerics")
def query_bias_ignored(self: Any, x: Tensor) -> Projections:
    """The bias of W_query has no effect.

    Either all three projections have a bias, or none. Compare the line that computes the queries with the other two.
    """
    return F.linear(x, self.W_query.weight), self.W_key(x), self.W_value(x)


@mistake(replaces="project", dimension="numerics")
def scaled_by_the_input_width(self: Any, x: Tensor) -> Projections:
    """You divide the scores by the square root of the input width.

    A score is a dot product of a query and a key, so its magnitude grows with their width. The width of x plays no part
    in it. (`nn.Linear` stores its weight as (out, in), so its last axis is the input width.)
    """
    queries, keys, values = (through(layer, x) for layer in (self.W_query, self.W_key, self.W_value))
    return queries * math.sqrt(_width(self, keys) / x.shape[-1]), keys, values


@mistake(replaces="project", dimension="numerics")
def scaled_after_the_softmax(self: Any, x: Tensor) -> Projections:
    """You divide by the square root of the key width after the softmax.

    Your weights no longer add up to one, and the softmax itself gets unscaled scores. Divide the scores, before the
    softmax.
    """
    queries, keys, values = (through(layer, x) for layer in (self.W_query, self.W_key, self.W_value))
    root = math.sqrt(_width(self, keys))
    return queries * root, keys, values / root


@mistake(replaces="project", dimension="numerics")
def normalised_input(self: Any, x: Tensor) -> Projections:
    """You normalise the input before you project it.

    A LayerNorm before attention is part of a Transformer block. This module projects x unchanged.
    """
    x = F.layer_norm(x, x.shape[-1:])
    return through(self.W_query, x), through(self.W_key, x), through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def activated_values(self: Any, x: Tensor) -> Projections:
    """You apply an activation function to the values.

    All your values are positive or zero. A projection is a matrix product, plus a bias if there is one, and nothing
    else.
    """
    return through(self.W_query, x), through(self.W_key, x), F.relu(through(self.W_value, x))


def through(layer: nn.Module | Tensor, x: Tensor) -> Tensor:
    """Return x after a projection, be it a layer or a bare matrix (d_in, d_out)."""
    return cast(Tensor, layer(x)) if isinstance(layer, nn.Module) else x @ layer


def _width(module: Any, keys: Tensor) -> int:
    """Return the width of a key, of one head where there are several."""
    return keys.shape[-1] // int(getattr(module, "num_heads", 1))
