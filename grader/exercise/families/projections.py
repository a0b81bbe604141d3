"""What goes wrong when queries, keys and values are made, by linear layers or bare parameters alike.

All replace `project(self, x)`, which returns queries, keys and values made with `W_query`, `W_key` and `W_value`.
What comes after may split them into `self.num_heads` heads.
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
    """W_key and W_value have changed places.

    You compare the queries with what W_value gives, and mix what W_key gives. Follow each of the two to the place
    where it is used; if you unpack or chunk several at once, check the order.
    """
    return through(self.W_query, x), through(self.W_value, x), through(self.W_key, x)


@mistake(replaces="project", dimension="numerics")
def queries_and_keys_swapped(self: Any, x: Tensor) -> Projections:
    """W_query and W_key have changed places.

    Position i then asks with what it should answer with. The shapes fit, so nothing complains. Look at the lines that
    make queries and keys; if you unpack or chunk several at once, check the order.
    """
    return through(self.W_key, x), through(self.W_query, x), through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def queries_and_values_swapped(self: Any, x: Tensor) -> Projections:
    """W_query and W_value have changed places.

    You ask with what W_value gives, and mix what W_query gives. Follow each of the two to the place where it is used;
    if you unpack or chunk several at once, check the order.
    """
    return through(self.W_value, x), through(self.W_key, x), through(self.W_query, x)


@mistake(replaces="project", dimension="numerics")
def one_projection_for_all(self: Any, x: Tensor) -> Projections:
    """You use one projection for queries, keys and values.

    All three of yours come from W_query. Look for a line that was copied and not changed.
    """
    same = through(self.W_query, x)
    return same, same, same


@mistake(replaces="project", dimension="numerics")
def query_weights_for_the_keys(self: Any, x: Tensor) -> Projections:
    """You project the keys with W_query.

    Queries and keys go through the same weights, and W_key is never used. Look at the line that makes the keys.
    """
    same = through(self.W_query, x)
    return same, same, through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def mixes_the_keys(self: Any, x: Tensor) -> Projections:
    """You mix the keys instead of the values.

    The weights are right; what they are multiplied with is not. Look at the last product, and at the layer that your
    values come from.
    """
    keys = through(self.W_key, x)
    return through(self.W_query, x), keys, keys


@mistake(replaces="project", dimension="numerics")
def mixes_the_queries(self: Any, x: Tensor) -> Projections:
    """You mix the queries instead of the values.

    The weights are right; what they are multiplied with is not. Look at the last product, and at the layer that your
    values come from.
    """
    queries = through(self.W_query, x)
    return queries, through(self.W_key, x), queries


@mistake(replaces="project", dimension="shapes")
def mixes_the_inputs(self: Any, x: Tensor) -> Projections:
    """You mix the inputs instead of the values.

    Your last product takes x itself, so your output is as wide as x. It has to take x after W_value.
    """
    return through(self.W_query, x), through(self.W_key, x), x


@mistake(replaces="project", dimension="numerics")
def biases_ignored(self: Any, x: Tensor) -> Projections:
    """The biases of your queries, keys and values have no effect.

    Where the projections have biases, yours do not add them. If you multiply with `layer.weight` yourself, the bias
    stays out; calling the layer does both.
    """
    return F.linear(x, self.W_query.weight), F.linear(x, self.W_key.weight), F.linear(x, self.W_value.weight)


@mistake(replaces="project", dimension="numerics")
def value_bias_ignored(self: Any, x: Tensor) -> Projections:
    """The bias of W_value has no effect.

    All three projections have a bias, or none. Compare the line that makes the values with the other two.
    """
    return self.W_query(x), self.W_key(x), F.linear(x, self.W_value.weight)


@mistake(replaces="project", dimension="numerics")
def query_bias_ignored(self: Any, x: Tensor) -> Projections:
    """The bias of W_query has no effect.

    All three projections have a bias, or none. Compare the line that makes the queries with the other two.
    """
    return F.linear(x, self.W_query.weight), self.W_key(x), self.W_value(x)


@mistake(replaces="project", dimension="numerics")
def scaled_by_the_input_width(self: Any, x: Tensor) -> Projections:
    """You divide the scores by the root of the input's width.

    A score is a dot product of a query and a key, so it is their width that makes it grow. The width of x plays no part
    once they are made. (The weight of a linear layer is stored as (out, in): its last axis is the input's.)
    """
    queries, keys, values = (through(layer, x) for layer in (self.W_query, self.W_key, self.W_value))
    return queries * math.sqrt(_width(self, keys) / x.shape[-1]), keys, values


@mistake(replaces="project", dimension="numerics")
def scaled_after_the_softmax(self: Any, x: Tensor) -> Projections:
    """You divide by the root of a key's width after the softmax.

    Then your weights no longer add up to one, and they are as sharp as without any scaling. The division belongs to
    the scores, before they become weights.
    """
    queries, keys, values = (through(layer, x) for layer in (self.W_query, self.W_key, self.W_value))
    root = math.sqrt(_width(self, keys))
    return queries * root, keys, values / root


@mistake(replaces="project", dimension="numerics")
def normalised_input(self: Any, x: Tensor) -> Projections:
    """You normalise the input before you project it.

    A LayerNorm in front of attention is part of a transformer block. This module projects x as it is.
    """
    x = F.layer_norm(x, x.shape[-1:])
    return through(self.W_query, x), through(self.W_key, x), through(self.W_value, x)


@mistake(replaces="project", dimension="numerics")
def activated_values(self: Any, x: Tensor) -> Projections:
    """You send the values through an activation function.

    Nothing that you mix is negative. A projection is a matrix product, and a bias where there is one; nothing follows
    it.
    """
    return through(self.W_query, x), through(self.W_key, x), F.relu(through(self.W_value, x))


def through(layer: nn.Module | Tensor, x: Tensor) -> Tensor:
    """Return x after a projection, be it a layer or a bare matrix (d_in, d_out)."""
    return cast(Tensor, layer(x)) if isinstance(layer, nn.Module) else x @ layer


def _width(module: Any, keys: Tensor) -> int:
    """Return the width of a key, of one head where there are several."""
    return keys.shape[-1] // int(getattr(module, "num_heads", 1))
