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
    """Your feature map is elu(x), without the 1.

    Below zero it is negative, so weights and denominators can be negative as well, or vanish. The 1 is there to keep
    every feature above zero.
    """
    return F.elu(x)


@mistake(replaces="features", dimension="numerics")
def relu_for_elu(x: Tensor) -> Tensor:
    """Your feature map is relu(x).

    It is zero for every negative feature, and then a query may fit no key at all. The map of this exercise is elu(x)
    + 1.
    """
    return F.relu(x)


@mistake(replaces="features", dimension="numerics")
def relu_plus_one(x: Tensor) -> Tensor:
    """Your feature map is relu(x) + 1.

    Above zero that is right. Below zero the exponential is missing: your features are 1 there, however negative x is.
    """
    return F.relu(x) + 1


@mistake(replaces="features", dimension="numerics")
def softplus_for_elu(x: Tensor) -> Tensor:
    """Your feature map is softplus(x).

    It is positive and smooth as well, but another function. The map of this exercise is elu(x) + 1.
    """
    return F.softplus(x)


@mistake(replaces="features", dimension="numerics")
def exponential_for_elu(x: Tensor) -> Tensor:
    """Your feature map is exp(x).

    It is elu(x) + 1 below zero only. Above zero it grows past every bound, and overflows.
    """
    return torch.exp(x)


@mistake(replaces="features", dimension="numerics")
def sigmoid_for_elu(x: Tensor) -> Tensor:
    """Your feature map is a sigmoid.

    It is positive as well, but another function: large features all become 1. The map of this exercise is elu(x) + 1.
    """
    return torch.sigmoid(x)


@mistake(replaces="features", dimension="numerics")
def softmax_for_elu(x: Tensor) -> Tensor:
    """You apply a softmax to the features of each query and key.

    There is a variant of linear attention that does so; this one uses elu(x) + 1, feature by feature.
    """
    return torch.softmax(x, dim=-1)


@mistake(replaces="features", dimension="numerics")
def one_inside_of_elu(x: Tensor) -> Tensor:
    """You add the 1 to x, not to elu(x).

    elu(x + 1) goes down to -1 for very negative x. Look at where the bracket closes.
    """
    return F.elu(x + 1)


@mistake(replaces="features", dimension="numerics")
def no_feature_map(x: Tensor) -> Tensor:
    """You use queries and keys as they are, without a feature map.

    Their products may be negative, and so may your weights. Every query and every key goes through elu(x) + 1 first.
    """
    return x


@mistake(replaces="key_features", dimension="numerics")
def keys_without_features(key: Tensor) -> Tensor:
    """Your keys do not go through the feature map.

    Queries and keys both do: a weight is a product of positive numbers.
    """
    return key


@mistake(replaces="query_features", dimension="numerics")
def queries_without_features(query: Tensor) -> Tensor:
    """Your queries do not go through the feature map.

    Queries and keys both do: a weight is a product of positive numbers.
    """
    return query


@mistake(replaces="query_features", dimension="numerics")
def queries_scaled(query: Tensor) -> Tensor:
    """You divide the queries by the root of their width.

    That belongs to the softmax, which is not there. Linear attention has no scaling: what comes before the feature map
    changes its result. (After the map a factor would do nothing, since the denominator has it too.)
    """
    return _features(query / math.sqrt(query.shape[-1]))


@mistake(replaces="key_features", dimension="numerics")
def keys_scaled(key: Tensor) -> Tensor:
    """You divide the keys by the root of their width.

    That belongs to the softmax, which is not there. Linear attention has no scaling: what comes before the feature map
    changes its result. (After the map a factor would do nothing, since the denominator has it too.)
    """
    return _features(key / math.sqrt(key.shape[-1]))


@mistake(replaces="features", dimension="numerics")
def both_scaled(x: Tensor) -> Tensor:
    """You scale queries and keys before the feature map.

    Each is divided by the fourth root of the width. That belongs to the softmax, which is not there: linear attention
    has no scaling.
    """
    return _features(x / math.sqrt(math.sqrt(x.shape[-1])))


@mistake(replaces="divide", dimension="numerics")
def no_denominator(answer: Tensor, total: Tensor) -> Tensor:
    """You never divide: your weights do not add up to one.

    Without the denominator the output grows with the number of keys. Each query needs the sum of its weights, and gets
    it from the sum of the keys' features.
    """
    return answer


@mistake(replaces="ask", dimension="numerics")
def numerator_scaled(queries: Tensor, memory: Tensor) -> Tensor:
    """Your output is too small by the root of the keys' width.

    You divide by it in the numerator, or at the end, and not in the denominator. Linear attention has no scaling.
    """
    return (queries.unsqueeze(-1) * memory).sum(dim=-2) / math.sqrt(queries.shape[-1])


@mistake(replaces="divide", dimension="numerics")
def epsilon_too_large(answer: Tensor, total: Tensor) -> Tensor:
    """What you add to the denominator is too large.

    A thousandth takes a part of every output away. Up to 1e-6 is fine here, and nothing at all will do: a denominator
    is positive as long as no row has features that are all rounded to zero.
    """
    return answer / (total.unsqueeze(-1) + 1e-3)


@mistake(replaces="total_of", dimension="numerics")
def denominator_without_the_query(queries: Tensor, mass: Tensor) -> Tensor:
    """Your denominator is the same for every query.

    It is the sum of the keys' features, but a weight is the product of a query's and a key's. The query belongs into
    the denominator as it does into the numerator.
    """
    return mass.sum(dim=-1).expand(queries.shape[:-1])


@mistake(replaces="memory_of", dimension="numerics")
def values_through_the_features(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """Your values go through the feature map.

    Only queries and keys do. Values are mixed as they are, and may be negative.
    """
    parts = keys.unsqueeze(-1) * _features(values).unsqueeze(-2)
    return parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)


@mistake(replaces="linear_attention", dimension="numerics")
def queries_and_keys_swapped(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """Queries and keys have changed places.

    You sum up queries with values, and let the keys ask. The order in which they are handed over is query, key, value.
    """
    queries, keys = _features(key), _features(query)
    parts = keys.unsqueeze(-1) * value.unsqueeze(-2)
    memory = parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)
    mass = keys.cumsum(dim=2) if causal else keys.sum(dim=2, keepdim=True)
    return (queries.unsqueeze(-1) * memory).sum(dim=-2) / (queries * mass).sum(dim=-1, keepdim=True)


@mistake(replaces="linear_attention", dimension="numerics")
def softmax_attention(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """You compute softmax attention.

    Linear attention has no softmax and no √d: a weight is the product of the features of query and key, over the sum
    of such products.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@mistake(replaces="collect", dimension="masking")
def causal_ignored(parts: Tensor, causal: bool) -> Tensor:
    """With `causal=True` your queries see all keys, as they do without it.

    The sums have to be different for each position then: each takes in its own key and the earlier ones.
    """
    return parts.sum(dim=2, keepdim=True)


@mistake(replaces="collect", dimension="masking")
def always_causal(parts: Tensor, causal: bool) -> Tensor:
    """Your attention is causal always.

    Without `causal=True` every query sees all keys, the later ones too.
    """
    return parts.cumsum(dim=2)


@mistake(replaces="mass_of", dimension="masking")
def denominator_sees_all(keys: Tensor, causal: bool) -> Tensor:
    """Your denominator sees the future.

    The numerator stops at each position, the denominator is the sum over all keys, so the weights of an early position
    add up to much less than one. Both need sums up to the position.
    """
    return keys.sum(dim=2, keepdim=True)


@mistake(replaces="memory_of", dimension="masking")
def numerator_sees_all(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """Your numerator sees the future.

    The denominator stops at each position, the sum of keys times values does not. Both need sums up to the position.
    """
    return (keys.unsqueeze(-1) * values.unsqueeze(-2)).sum(dim=2, keepdim=True)


@mistake(replaces="so_far", dimension="masking")
def does_not_see_itself(parts: Tensor) -> Tensor:
    """Your positions do not see themselves.

    A position draws on its own key and value and on the earlier ones. If you ask the sum before you add to it, the
    first position finds nothing: zero divided by zero.
    """
    return torch.cat([torch.zeros_like(parts[:, :, :1]), parts[:, :, :-1].cumsum(dim=2)], dim=2)


@mistake(replaces="so_far", dimension="masking")
def sees_one_ahead(parts: Tensor) -> Tensor:
    """Every position sees one position of its future.

    Your sums run one step ahead of the queries. The sum for position i ends with key i.
    """
    sums = parts.cumsum(dim=2)
    return torch.cat([sums[:, :, 1:], sums[:, :, -1:]], dim=2)


@mistake(replaces="so_far", dimension="masking")
def sees_the_future_only(parts: Tensor) -> Tensor:
    """Your sums run from the end: you see the future and not the past.

    Each position has to sum up what comes before it. Look for a `flip`, or for a triangle that is the other one.
    """
    return parts.flip(2).cumsum(dim=2).flip(2)


@mistake(replaces="so_far", dimension="masking")
def sums_run_over_heads(parts: Tensor) -> Tensor:
    """Your running sums run over the heads.

    Axis 1 counts heads, and they know nothing of each other. In (B, h, T, d), which axis is time?
    """
    return parts.cumsum(dim=1)


@mistake(replaces="in_all", dimension="masking")
def heads_summed_up(parts: Tensor) -> Tensor:
    """All your heads share one sum.

    Keys and values of different heads are added up together. Each head has a memory of its own: look at the axes that
    your sum runs over, or at the letters of your einsum.
    """
    return parts.sum(dim=(1, 2), keepdim=True)


@mistake(replaces="in_all", dimension="masking")
def batch_summed_up(parts: Tensor) -> Tensor:
    """All your sequences share one sum.

    Keys and values of different sequences of the batch are added up together. Look at the axes that your sum runs over,
    or at the letters of your einsum.
    """
    return parts.sum(dim=(0, 2), keepdim=True)


@mistake(replaces="divide", dimension="gradients")
def denominator_cut_off(answer: Tensor, total: Tensor) -> Tensor:
    """No gradient comes back through your denominator.

    The value is right, but a key that fits better takes weight from all others, and that goes through the sum. Look for
    `detach`, `data` or `no_grad` where you make it.
    """
    return answer / total.detach().unsqueeze(-1)


@mistake(replaces="key_features", dimension="gradients")
def keys_cut_off(key: Tensor) -> Tensor:
    """No gradient comes back through your keys.

    What makes the keys never learns. Look for `detach`, `data` or `no_grad` on their way into the sums.
    """
    return _features(key).detach()


@mistake(replaces="memory_of", dimension="gradients")
def memory_cut_off(keys: Tensor, values: Tensor, causal: bool) -> Tensor:
    """No gradient comes back through your sum of keys times values.

    The value is right, but the sum is a constant for the backward pass, so the values never learn. Look for `detach`,
    `data` or `no_grad` where it is carried along.
    """
    parts = keys.unsqueeze(-1) * values.unsqueeze(-2)
    return (parts.cumsum(dim=2) if causal else parts.sum(dim=2, keepdim=True)).detach()


@mistake(replaces="so_far", dimension="gradients")
def past_cut_off(parts: Tensor) -> Tensor:
    """In the causal case no gradient reaches what lies in the past.

    The sums that you carry from position to position are cut off from their history, so each key and value learns from
    its own position only. Look for `detach`, `data` or `no_grad` where they are updated.
    """
    return parts + (parts.cumsum(dim=2) - parts).detach()


@mistake(replaces="divide", dimension="gradients")
def everything_cut_off(answer: Tensor, total: Tensor) -> Tensor:
    """Your output is cut off from everything that it was made of.

    The numbers are right, but no gradient reaches anything. Look for `detach()`, `.data`, `.numpy()`, `no_grad` or a
    `torch.tensor(...)` round the result.
    """
    return (answer / total.unsqueeze(-1)).detach()


@mistake(replaces="linear_attention", dimension="memory")
def holds_all_weights(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """You hold the weights of all queries for all keys.

    What you return is right, but you multiply queries and keys first, and that makes a T x T tensor, which is what this
    kind of attention is there to avoid. Multiply keys and values first: their product does not grow with the length.
    """
    weights = _features(query) @ _features(key).transpose(-2, -1)
    if causal:
        weights = weights.tril()
    return weights @ value / weights.sum(dim=-1, keepdim=True)


@mistake(replaces="linear_attention", dimension="memory")
def holds_all_weights_when_causal(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """With `causal=True` you hold a T x T tensor.

    Without it you do not, and what you return is right in both cases. But a triangle, whether of weights or of ones, is
    a tensor that grows with the square of the length. Sums up to a position can be had one after the other.
    """
    queries, keys = _features(query), _features(key)
    if causal:
        weights = (queries @ keys.transpose(-2, -1)).tril()
        return weights @ value / weights.sum(dim=-1, keepdim=True)
    return queries @ (keys.transpose(-2, -1) @ value) / (queries * keys.sum(dim=2, keepdim=True)).sum(-1, keepdim=True)
