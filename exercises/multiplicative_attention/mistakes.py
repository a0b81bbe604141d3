"""What students get wrong in multiplicative attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, weights
from grader.exercise.mistakes import mistake, take

softmax_over_the_batch = weights.softmax_over_the_first_axis
from_weights = take(weights, also=("scores_over_their_sum",))
sum_cut_off = gradients.sum_cut_off


@mistake(replaces="check", dimension="shapes")
def unknown_methods_accepted(method: str) -> str:
    """Your constructor accepts methods that do not exist.

    Any other name must raise a `ValueError`, in the constructor or in `forward`. A final `else` accepts every name;
    without an `else`, you get a different error later.
    """
    return method if method in ("dot", "general") else "concat"


@mistake(replaces="MultiplicativeAttention.__init__", dimension="numerics")
def dot_by_default(self: Any, encoder_dim: int, decoder_dim: int, method: str = "dot") -> None:
    """Your default method is `dot`.

    The default is `general`. Check the signature of your constructor.
    """
    nn.Module.__init__(self)
    if method not in ("dot", "general", "concat"):
        raise ValueError(f"there is no method {method!r}")
    self.method = method
    if method == "general":
        self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
    if method == "concat":
        self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
        self.v = nn.Parameter(torch.rand(decoder_dim))


@mistake(replaces="multiply", dimension="numerics")
def scaled_products(keys: Tensor, query: Tensor) -> Tensor:
    """You divide the dot products by the square root of their width.

    That scaling was introduced later, with the Transformer. Here the softmax gets the unscaled products.
    """
    return (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.shape[-1])


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def scaled_scores(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """You divide the scores of every method by √decoder_dim.

    That scaling belongs to the Transformer's attention. Here the softmax gets the unscaled scores.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden)
    return scores / math.sqrt(decoder_hidden.shape[-1])


@mistake(replaces="MultiplicativeAttention.dot", dimension="numerics")
def scaled_dot(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """You scale the scores of `dot`.

    The other methods are right. The division by √d belongs to the Transformer's attention; here the softmax gets the
    unscaled products.
    """
    return (encoder_outputs @ decoder_hidden.unsqueeze(-1)).squeeze(-1) / math.sqrt(decoder_hidden.shape[-1])


@mistake(replaces="multiply", dimension="numerics")
def cosines_for_products(keys: Tensor, query: Tensor) -> Tensor:
    """You compare only directions: your vectors have length one.

    The dot product also depends on the lengths of the two vectors. Look for a `normalize`, a division by a norm, or a
    cosine similarity.
    """
    lengths = keys.norm(dim=-1) * query.norm(dim=-1, keepdim=True)
    cosines: Tensor = (keys @ query.unsqueeze(-1)).squeeze(-1) / lengths
    return cosines


@mistake(replaces="multiply", dimension="shapes")
def state_multiplied_along_time(keys: Tensor, query: Tensor) -> Tensor:
    """You multiply by the decoder state without giving it a time axis.

    (B, T, d) and (B, d) are aligned from the right, so the batch axis of the state meets the time axis of the encoder
    outputs. For most sizes that is an error; if B equals T, it is silently wrong. Where do you need an axis of size 1?
    """
    return (keys * query).sum(dim=-1)


@mistake(replaces="project", dimension="numerics")
def bent_projection(keys: Tensor, layer: nn.Linear) -> Tensor:
    """You apply tanh in `general`.

    `general` is just the product s · W h. The tanh belongs to `concat`.
    """
    return torch.tanh(layer(keys))


@mistake(replaces="join", dimension="numerics")
def decoder_comes_first(keys: Tensor, query: Tensor) -> Tensor:
    """You put the decoder state first in `concat`.

    The first columns of W belong to the encoder output. In your order each part of W is multiplied by the wrong vector.
    (The paper has the state first; here it comes second.)
    """
    return torch.cat((query.unsqueeze(1).expand(-1, keys.shape[1], -1), keys), dim=-1)


@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """Your `concat` has no tanh.

    Without it the score is a sum of one number from the encoder output and one from the decoder state. The second is
    the same for all positions, so it has no effect on the softmax: the weights do not depend on the decoder.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def sigmoid_for_tanh(features: Tensor) -> Tensor:
    """Your `concat` uses a sigmoid instead of tanh.

    A sigmoid is never negative. Compare your activation function with the formula.
    """
    return torch.sigmoid(features)


@mistake(replaces="rate", dimension="numerics")
def no_v(features: Tensor, v: Tensor) -> Tensor:
    """You sum the hidden features of `concat` without v.

    Each feature then has the same influence, and v is never trained. v gives each feature its weight and sign.
    """
    return features.sum(dim=-1)


@mistake(replaces="rate", dimension="numerics")
def bent_scores(features: Tensor, v: Tensor) -> Tensor:
    """You also apply tanh after v in `concat`.

    Your scores are limited to -1 to 1, so no word can get much more weight than another. Apply tanh to the hidden layer
    only.
    """
    return torch.tanh(features @ v)


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def first_state_for_all(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """All your sentences use the decoder state of the first one.

    Each sentence of the batch has its own state. Look for an index 0 on the batch axis.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden[:1].expand_as(decoder_hidden))
    return scores


@mistake(replaces="MultiplicativeAttention.gather", dimension="shapes")
def mixes_projected_outputs(self: Any, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """In `general` you sum the projected encoder outputs.

    Your context has width decoder_dim. Use the projection only for the scores; the context is the weighted sum of the
    encoder outputs themselves.
    """
    values = self.W(encoder_outputs) if self.method == "general" else encoder_outputs
    mixed: Tensor = (weights.unsqueeze(1) @ values).squeeze(1)
    return mixed


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the unweighted mean of the encoder outputs.

    You compute the weights, but they have no influence on the context.
    """
    return values.mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def first_sentence_for_all(weights: Tensor, values: Tensor) -> Tensor:
    """All your sentences use the attention weights of the first one.

    Each sentence of the batch has its own scores and weights. Look for an index 0 on the batch axis.
    """
    return (weights[:1].unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="shapes")
def outputs_not_added_up(weights: Tensor, values: Tensor) -> Tensor:
    """You multiply the encoder outputs by the weights, but do not sum them.

    Your context has one vector per source position. It must be one vector per sentence: along which axis do you sum?
    """
    return weights.unsqueeze(-1) * values


@mistake(replaces="hand_over", dimension="shapes")
def context_keeps_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context has an extra axis of size 1.

    `bmm` needs three axes and returns (B, 1, encoder_dim). Return (B, encoder_dim): remove the middle axis.
    """
    return context.unsqueeze(1), weights


@mistake(replaces="hand_over", dimension="shapes")
def weights_keep_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your weights have an extra axis of size 1.

    A product with (B, d, 1), or a layer with one output feature, returns (B, T, 1). Return (B, T): remove the last
    axis.
    """
    return context, weights.unsqueeze(-1)


@mistake(replaces="hand_over", dimension="shapes")
def squeezes_too_much(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You remove every axis of size 1.

    With a batch of one, or sentences with one word, you also remove an axis that must stay. Tell `squeeze` which axis
    to remove.
    """
    return context.squeeze(), weights.squeeze()


@mistake(replaces="hand_over", dimension="shapes")
def results_swapped(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first.

    Return the context first, then the weights.
    """
    return weights, context


@mistake(replaces="hand_over", dimension="shapes")
def context_alone(context: Tensor, weights: Tensor) -> Any:
    """You return only the context.

    Return two tensors: the context and the weights.
    """
    return context


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows through your weights.

    The context is right, but W, v and the decoder cannot be trained. Look for `detach()`, `.data`, `no_grad` or a new
    tensor made from the weights.
    """
    return (weights.detach().unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="gradients")
def outputs_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows through the encoder outputs in your weighted sum.

    The encoder gets a gradient only through the scores, not through its contribution to the context. Look for
    `detach()` or `.data` on the encoder outputs in the weighted sum.
    """
    return (weights.unsqueeze(1) @ values.detach()).squeeze(1)


@mistake(replaces="hand_over", dimension="gradients")
def everything_cut_off(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context is detached from the graph.

    The numbers are right, but no gradient reaches the inputs or parameters. Look for `detach()`, `.data`, `.numpy()`,
    `no_grad` or a `torch.tensor(...)` around the result.
    """
    return context.detach(), weights


@mistake(replaces="MultiplicativeAttention.score", dimension="gradients")
def state_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """No gradient flows back to the decoder state.

    The context is right, but the decoder cannot be trained through the scores. Look for `detach()`, `.data` or
    `torch.tensor(...)` around the state.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden.detach())
    return scores


@mistake(replaces="MultiplicativeAttention.score", dimension="gradients")
def scored_outputs_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """No gradient flows back to the encoder through your scores.

    The encoder gets a gradient only through its contribution to the context. Look for `detach()` or `.data` where you
    compare the encoder outputs with the state.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs.detach(), decoder_hidden)
    return scores


@mistake(replaces="multiply", dimension="numerics")
def mean_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You take the mean over the features instead of the sum.

    Your scores are too small by a factor of the state's width, so your weights are too uniform. The dot product is `(a
    * b).sum(-1)`.
    """
    return (keys * query.unsqueeze(1)).mean(dim=-1)


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """Your `concat` uses ReLU instead of tanh.

    tanh maps to -1 to 1 and keeps the sign; ReLU sets everything below zero to 0.
    """
    return torch.relu(features)
