"""What students get wrong in linear attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from grader.exercise.mistakes import mistake


def _features(x: Tensor) -> Tensor:
    return F.elu(x) + 1


@mistake(replaces="features", dimension="numerics")
def elu_without_one(x: Tensor) -> Tensor:
    """Your feature map is elu(x), without adding 1.

    elu(x) is negative below zero, so weights and denominators can be negative or zero. Adding 1 keeps every feature
    positive.
    """
    return F.elu(x)


@mistake(replaces="features", dimension="numerics")
def relu_for_elu(x: Tensor) -> Tensor:
    """Your feature map is relu(x).

    It is zero for all negative numbers, so a query can have weight zero for every key. The feature map of this exercise
    is elu(x) + 1.
    """
    return F.relu(x)


@mistake(replaces="features", dimension="numerics")
def relu_plus_one(x: Tensor) -> Tensor:
    """Your feature map is relu(x) + 1.

    It is right above zero. Below zero it is always 1, where elu(x) + 1 is exp(x).
    """
    return F.relu(x) + 1


@mistake(replaces="features", dimension="numerics")
def softplus_for_elu(x: Tensor) -> Tensor:
    """Your feature map is softplus(x).

    It is also positive and smooth, but a different function. The feature map of this exercise is elu(x) + 1.
    """
    return F.softplus(x)


@mistake(replaces="features", dimension="numerics")
def exponential_for_elu(x: Tensor) -> Tensor:
    """Your feature map is exp(x).

    That equals elu(x) + 1 only below zero. Above zero it grows much faster than x + 1, and overflows.
    """
    return torch.exp(x)


@mistake(replaces="features", dimension="numerics")
def sigmoid_for_elu(x: Tensor) -> Tensor:
    """Your feature map is a sigmoid.

    It is also positive, but all large inputs give features close to 1. The feature map of this exercise is elu(x) + 1.
    """
    return torch.sigmoid(x)


@mistake(replaces="features", dimension="numerics")
def softmax_for_elu(x: Tensor) -> Tensor:
    """You apply a softmax to the features of each query and key.

    There is a variant of linear attention that does this. Here the feature map is elu(x) + 1, element by element.
    """
    return torch.softmax(x, dim=-1)


@mistake(replaces="features", dimension="numerics")
def one_inside_of_elu(x: Tensor) -> Tensor:
    """You add the 1 to x, not to elu(x).

    elu(x + 1) goes down to -1 for very negative x. Check where the parenthesis closes.
    """
    return F.elu(x + 1)


@mistake(replaces="features", dimension="numerics")
def no_feature_map(x: Tensor) -> Tensor:
    """You use queries and keys directly, without a feature map.

    Their products can be negative, and so can your weights. Apply elu(x) + 1 to every query and every key first.
    """
    return x


@mistake(replaces="key_features", dimension="numerics")
def keys_without_features(key: Tensor) -> Tensor:
    """You do not apply the feature map to the keys.

    Apply it to both queries and keys, so that every weight is positive.
    """
    return key


@mistake(replaces="query_features", dimension="numerics")
def queries_without_features(query: Tensor) -> Tensor:
    """You do not apply the feature map to the queries.

    Apply it to both queries and keys, so that every weight is positive.
    """
    return query


@mistake(replaces="query_features", dimension="numerics")
def queries_scaled(query: Tensor) -> Tensor:
    """You divide the queries by the square root of their width.

    That scaling belongs to softmax attention. Linear attention has none, and a factor before the feature map changes
    the result. (After the feature map it would cancel, because the denominator has it too.)
    """
    return _features(query / math.sqrt(query.shape[-1]))


@mistake(replaces="key_features", dimension="numerics")
def keys_scaled(key: Tensor) -> Tensor:
    """You divide the keys by the square root of their width.

    That scaling belongs to softmax attention. Linear attention has none, and a factor before the feature map changes
    the result. (After the feature map it would cancel, because the denominator has it too.)
    """
    return _features(key / math.sqrt(key.shape[-1]))


@mistake(replaces="features", dimension="numerics")
def both_scaled(x: Tensor) -> Tensor:
    """You scale queries and keys before the feature map.

    You divide each by the fourth root of the width. That scaling belongs to softmax attention; linear attention has
    none.
    """
    return _features(x / math.sqrt(math.sqrt(x.shape[-1])))


@mistake(replaces="divide", dimension="numerics")
def no_denominator(answer: Tensor, total: Tensor) -> Tensor:
    """Your weights do not add up to one: the division is missing.

    Without it the output grows with the number of keys. Divide by the sum of each query's weights, which is φ(q) · z,
    with z the sum of the keys' features.
    """
    return answer


@mistake(replaces="ask", dimension="numerics")
def numerator_scaled(queries: Tensor, memory: Tensor) -> Tensor:
    """Your output is too small by a factor of √d.

    You divide by √d in the numerator or at the end, but not in the denominator. Linear attention has no such scaling.
    """
    return (queries.unsqueeze(-1) * memory).sum(dim=-2) / math.sqrt(queries.shape[-1])


@mistake(replaces="divide", dimension="numerics")
def epsilon_too_large(answer: Tensor, total: Tensor) -> Tensor:
    """The number that you add to the denominator is too large.

    Adding 0.001 makes every output visibly smaller. You may add up to 1e-6, or nothing: the denominator is positive
    unless all features of a row are rounded to zero.
    """
    return answer / (total.unsqueeze(-1) + 1e-3)


@mistake(replaces="total_of", dimension="numerics")
def denominator_without_the_query(queries: Tensor, mass: Tensor) -> Tensor:
    """Your denominator is the same for every query.

    You use the sum of the keys' features. A weight is the product of a query's and a key's features, so the query
    belongs in the denominator as well as in the numerator.
    """
    return mass.sum(dim=-1).expand(queries.shape[:-1])


@mistake(replaces="memory_of", dimension="numerics")
def values_through_the_features(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """You apply the feature map to the values.

    Apply it to queries and keys only. Values are used unchanged, and may be negative.
    """
    parts = keys.unsqueeze(-1) * _features(values).unsqueeze(-2)
    return parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)


@mistake(replaces="linear_attention", dimension="numerics")
def queries_and_keys_swapped(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """You swap queries and keys.

    You sum queries with values, and multiply the keys by that sum. The arguments are query, key, value, in this order.
    """
    queries, keys = _features(key), _features(query)
    parts = keys.unsqueeze(-1) * value.unsqueeze(-2)
    memory = parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)
    mass = keys.cumsum(dim=2) if causal else keys.sum(dim=2, keepdim=True)
    return (queries.unsqueeze(-1) * memory).sum(dim=-2) / (queries * mass).sum(dim=-1, keepdim=True)


@mistake(replaces="linear_attention", dimension="numerics")
def softmax_attention(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """You compute softmax attention.

    Linear attention has no softmax and no division by √d. A weight is the product of the query's and the key's
    features, divided by the sum of these products over all keys.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@mistake(replaces="collect", dimension="masking")
def causal_ignored(parts: Tensor, causal: bool) -> Tensor:
    """You ignore `causal=True`.

    Your queries attend to all keys. In the causal case each position needs its own sums, over itself and earlier
    positions only.
    """
    return parts.sum(dim=2, keepdim=True)


@mistake(replaces="collect", dimension="masking")
def always_causal(parts: Tensor, causal: bool) -> Tensor:
    """Your attention is always causal.

    Without `causal=True` every query attends to all keys, including later ones.
    """
    return parts.cumsum(dim=2)


@mistake(replaces="mass_of", dimension="masking")
def denominator_sees_all(keys: Tensor, causal: bool) -> Tensor:
    """Your denominator includes future keys.

    The numerator stops at each position, but the denominator is the sum over all keys, so the weights of early
    positions add up to much less than one. Both need sums up to the current position.
    """
    return keys.sum(dim=2, keepdim=True)


@mistake(replaces="memory_of", dimension="masking")
def numerator_sees_all(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """Your numerator includes future keys.

    The denominator stops at each position, but the sum of keys times values does not. Both need sums up to the current
    position.
    """
    return (keys.unsqueeze(-1) * values.unsqueeze(-2)).sum(dim=2, keepdim=True)


@mistake(replaces="so_far", dimension="masking")
def does_not_see_itself(parts: Tensor) -> Tensor:
    """Your positions do not attend to themselves.

    Position i uses the keys and values up to and including i. If you use the sum before you add the current key, the
    first position gets 0/0.
    """
    return torch.cat([torch.zeros_like(parts[:, :, :1]), parts[:, :, :-1].cumsum(dim=2)], dim=2)


@mistake(replaces="so_far", dimension="masking")
def sees_one_ahead(parts: Tensor) -> Tensor:
    """Every position attends to one future position.

    Your sums are one step ahead of the queries. The sum for position i ends with key i.
    """
    sums = parts.cumsum(dim=2)
    return torch.cat([sums[:, :, 1:], sums[:, :, -1:]], dim=2)


@mistake(replaces="so_far", dimension="masking")
def sees_the_future_only(parts: Tensor) -> Tensor:
    """Your sums run from the end: positions attend to the future, not to the past.

    The sums of position i must cover positions 0 to i. Look for a `flip`, or for `triu` instead of `tril`.
    """
    return parts.flip(2).cumsum(dim=2).flip(2)


@mistake(replaces="so_far", dimension="masking")
def sums_run_over_heads(parts: Tensor) -> Tensor:
    """Your running sums run along the head axis.

    Axis 1 counts heads, which are independent. Which axis of (B, h, T, d) is time?
    """
    return parts.cumsum(dim=1)


@mistake(replaces="in_all", dimension="masking")
def heads_summed_up(parts: Tensor) -> Tensor:
    """You sum over the heads.

    Each head needs its own sums of keys and values. Check the axes of your sum, or the letters of your einsum.
    """
    return parts.sum(dim=(1, 2), keepdim=True)


@mistake(replaces="in_all", dimension="masking")
def batch_summed_up(parts: Tensor) -> Tensor:
    """You sum over the batch.

    Each sequence of the batch needs its own sums of keys and values. Check the axes of your sum, or the letters of your
    einsum.
    """
    return parts.sum(dim=(0, 2), keepdim=True)


@mistake(replaces="divide", dimension="gradients")
def denominator_cut_off(answer: Tensor, total: Tensor) -> Tensor:
    """No gradient flows through your denominator.

    The output is right. But when the weight of one key grows, all other weights shrink, and that part of the gradient
    flows through the denominator. Look for `detach`, `data` or `no_grad` where you compute it.
    """
    return answer / total.detach().unsqueeze(-1)


@mistake(replaces="key_features", dimension="gradients")
def keys_cut_off(key: Tensor) -> Tensor:
    """No gradient flows through your keys.

    Whatever computes the keys is never trained. Look for `detach`, `data` or `no_grad` between the keys and the sums.
    """
    return _features(key).detach()


@mistake(replaces="memory_of", dimension="gradients")
def memory_cut_off(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """No gradient flows through your sum of keys times values.

    No output shows it, but the sum is a constant in the backward pass, so the values are never trained. Look for
    `detach`, `data` or `no_grad` where you compute or update the sum.
    """
    parts = keys.unsqueeze(-1) * values.unsqueeze(-2)
    return (parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)).detach()


@mistake(replaces="so_far", dimension="gradients")
def past_cut_off(parts: Tensor) -> Tensor:
    """In the causal case no gradient reaches earlier positions.

    You detach the running sums from their history, so each key and value gets a gradient only from its own position.
    Look for `detach`, `data` or `no_grad` where you update the sums.
    """
    return parts + (parts.cumsum(dim=2) - parts).detach()


@mistake(replaces="divide", dimension="gradients")
def everything_cut_off(answer: Tensor, total: Tensor) -> Tensor:
    """Your output is detached from the graph.

    The numbers are right, but no gradient reaches the inputs. Look for `detach()`, `.data`, `.numpy()`, `no_grad` or a
    `torch.tensor(...)` around the result.
    """
    return (answer / total.unsqueeze(-1)).detach()


@mistake(replaces="linear_attention", dimension="memory")
def holds_all_weights(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """You create a T x T tensor, the weights of all queries and keys.

    Your output is right, but multiplying queries by keys first makes a T x T tensor, which linear attention is meant to
    avoid. Multiply keys by values first: the size of that product does not depend on T.
    """
    weights = _features(query) @ _features(key).transpose(-2, -1)
    if causal:
        weights = weights.tril()
    return weights @ value / weights.sum(dim=-1, keepdim=True)


@mistake(replaces="linear_attention", dimension="memory")
def holds_all_weights_when_causal(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """With `causal=True` you create a T x T tensor.

    Your output is right in both cases. But a triangular matrix, of weights or of ones, has T x T elements. Compute
    running sums over the positions instead.
    """
    queries, keys = _features(query), _features(key)
    if causal:
        weights = (queries @ keys.transpose(-2, -1)).tril()
        return weights @ value / weights.sum(dim=-1, keepdim=True)
    return queries @ (keys.transpose(-2, -1) @ value) / (queries * keys.sum(dim=2, keepdim=True)).sum(-1, keepdim=True)
