"""What students get wrong in multiplicative attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, weights
from grader.exercise.mistakes import mistake

softmax_over_the_batch = weights.softmax_over_the_first_axis
no_softmax = weights.no_softmax
sigmoid_for_softmax = weights.sigmoid_for_softmax
scores_over_their_sum = weights.scores_over_their_sum
overflowing_softmax = weights.overflowing_softmax
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
sum_cut_off = gradients.sum_cut_off
log_softmax_for_softmax = weights.log_softmax_for_softmax
scores_clamped = weights.scores_clamped


@mistake(replaces="check", dimension="shapes")
def unknown_methods_accepted(method: str) -> str:
    """Your constructor accepts methods that do not exist.

    Whatever is not one of the three names has to raise a `ValueError`, there or in `forward` at the latest. An `else`
    at the end of a chain takes everything; a chain without one ends in an error of another kind, further on.
    """
    return method if method in ("dot", "general") else "concat"


@mistake(replaces="MultiplicativeAttention.__init__", dimension="numerics")
def dot_by_default(self: Any, encoder_dim: int, decoder_dim: int, method: str = "dot") -> None:
    """Your default method is `dot`.

    Who names no method gets `general`. Look at the signature of your constructor.
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
    """You divide the dot products by the root of their width.

    The Transformer does, two years later. Here the products go into the softmax as they are.
    """
    return (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.shape[-1])


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def scaled_scores(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """You divide the scores of every method by the root of decoder_dim.

    That factor belongs to the Transformer's attention. None of these methods has one; their scores go into the softmax
    as they are.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden)
    return scores / math.sqrt(decoder_hidden.shape[-1])


@mistake(replaces="MultiplicativeAttention.dot", dimension="numerics")
def scaled_dot(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """You scale the scores of `dot`.

    The other methods are right. The division by the root of the width belongs to the Transformer's attention; here the
    products go into the softmax as they are.
    """
    return (encoder_outputs @ decoder_hidden.unsqueeze(-1)).squeeze(-1) / math.sqrt(decoder_hidden.shape[-1])


@mistake(replaces="multiply", dimension="numerics")
def cosines_for_products(keys: Tensor, query: Tensor) -> Tensor:
    """You compare directions alone: your vectors have length one.

    The dot product also grows with how long the two vectors are. Look for a `normalize`, a division by a norm, or a
    cosine similarity.
    """
    lengths = keys.norm(dim=-1) * query.norm(dim=-1, keepdim=True)
    cosines: Tensor = (keys @ query.unsqueeze(-1)).squeeze(-1) / lengths
    return cosines


@mistake(replaces="multiply", dimension="shapes")
def state_multiplied_along_time(keys: Tensor, query: Tensor) -> Tensor:
    """You multiply with the decoder's state without giving it a time axis.

    (B, T, d) and (B, d) are aligned from the right, so the sentences of the one meet the words of the other. That is an
    error for most sizes, and silently wrong where there are as many sentences as words. Where does an axis of size 1
    belong?
    """
    return (keys * query).sum(dim=-1)


@mistake(replaces="project", dimension="numerics")
def bent_projection(keys: Tensor, layer: nn.Linear) -> Tensor:
    """You apply tanh in `general`.

    `general` is a product of three and nothing else. The tanh belongs to `concat`.
    """
    return torch.tanh(layer(keys))


@mistake(replaces="join", dimension="numerics")
def decoder_comes_first(keys: Tensor, query: Tensor) -> Tensor:
    """You put the decoder's state first in `concat`.

    W is given, and its first columns are for the encoder's outputs. In the wrong order each part of W meets the wrong
    vector. (The paper has the state first; here it comes second.)
    """
    return torch.cat((query.unsqueeze(1).expand(-1, keys.shape[1], -1), keys), dim=-1)


@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """Your `concat` has no tanh.

    Without it the score falls apart into one number from the encoder and one from the decoder. The second is the same
    for all positions, and the softmax does not see it: your decoder has no say in where it looks.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def sigmoid_for_tanh(features: Tensor) -> Tensor:
    """Your `concat` uses a sigmoid, not tanh.

    Both bend in the same way, but a sigmoid is never negative. Compare your activation with the formula.
    """
    return torch.sigmoid(features)


@mistake(replaces="rate", dimension="numerics")
def no_v(features: Tensor, v: Tensor) -> Tensor:
    """You add the hidden features of `concat` up without v.

    Each feature then counts the same, and v never learns. v says how much each of them matters, and in which direction.
    """
    return features.sum(dim=-1)


@mistake(replaces="rate", dimension="numerics")
def bent_scores(features: Tensor, v: Tensor) -> Tensor:
    """You apply tanh after v in `concat`, too.

    Your scores lie between -1 and 1, so no word can get much more weight than another. The tanh belongs to the hidden
    layer alone.
    """
    return torch.tanh(features @ v)


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def first_state_for_all(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """All your sentences use the decoder state of the first.

    Each sentence of the batch has a state of its own. Look for an index 0 that takes the batch axis away.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden[:1].expand_as(decoder_hidden))
    return scores


@mistake(replaces="MultiplicativeAttention.gather", dimension="shapes")
def mixes_projected_outputs(self: Any, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """In `general` you mix the projected encoder outputs.

    Your context is decoder_dim wide. The projection is for the scores only; what is gathered is what the encoder gave
    you.
    """
    values = self.W(encoder_outputs) if self.method == "general" else encoder_outputs
    mixed: Tensor = (weights.unsqueeze(1) @ values).squeeze(1)
    return mixed


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the plain mean of the encoder's outputs.

    The weights are computed, but have no part in the context.
    """
    return values.mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def first_sentence_for_all(weights: Tensor, values: Tensor) -> Tensor:
    """All your sentences use the weights of the first.

    Each sentence of the batch has scores, and so weights, of its own. Look for an index 0 that takes the batch axis
    away.
    """
    return (weights[:1].unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="shapes")
def outputs_not_added_up(weights: Tensor, values: Tensor) -> Tensor:
    """You weigh the encoder's outputs and do not add them up.

    Your context has a vector for each source position. It should be one vector for each sentence: along which axis is
    the sum?
    """
    return weights.unsqueeze(-1) * values


@mistake(replaces="hand_over", dimension="shapes")
def context_keeps_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context keeps an axis of size 1.

    `bmm` wants three axes, and leaves (B, 1, encoder_dim) behind. There is one vector for each sentence: take the axis
    in the middle away again.
    """
    return context.unsqueeze(1), weights


@mistake(replaces="hand_over", dimension="shapes")
def weights_keep_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your weights keep an axis of size 1.

    A product with (B, d, 1), or a layer to one feature, leaves (B, T, 1) behind. There is one number for each source
    position: take the last axis away.
    """
    return context, weights.unsqueeze(-1)


@mistake(replaces="hand_over", dimension="shapes")
def squeezes_too_much(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You squeeze away every axis of size 1.

    With a batch of one, or sentences of one word, an axis disappears that should stay. Tell `squeeze` which axis you
    mean.
    """
    return context.squeeze(), weights.squeeze()


@mistake(replaces="hand_over", dimension="shapes")
def results_swapped(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights first.

    The context comes first, then the weights.
    """
    return weights, context


@mistake(replaces="hand_over", dimension="shapes")
def context_alone(context: Tensor, weights: Tensor) -> Any:
    """You return the context alone.

    The weights are wanted too, as the second of two results: they show where the decoder looks.
    """
    return context


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your weights.

    The context is right, but W, v and the decoder can never learn where to look. Search for `detach()`, `.data`,
    `no_grad` or a new tensor made from the weights.
    """
    return (weights.detach().unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="gradients")
def outputs_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through the outputs that you mix.

    The encoder then learns from the scores alone, and not from what it contributes to the context. Search for
    `detach()` or `.data` where the encoder's outputs are mixed.
    """
    return (weights.unsqueeze(1) @ values.detach()).squeeze(1)


@mistake(replaces="hand_over", dimension="gradients")
def everything_cut_off(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context is cut off from everything that it was made of.

    The numbers are right, but no gradient reaches anything. Look for `detach()`, `.data`, `.numpy()`, `no_grad` or a
    `torch.tensor(...)` round the result.
    """
    return context.detach(), weights


@mistake(replaces="MultiplicativeAttention.score", dimension="gradients")
def state_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """No gradient flows back to the decoder's state.

    The context is right, but the decoder that made the state cannot learn to ask. Search for `detach()`, `.data` or
    `torch.tensor(...)` round the state.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs, decoder_hidden.detach())
    return scores


@mistake(replaces="MultiplicativeAttention.score", dimension="gradients")
def scored_outputs_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """No gradient flows back to the encoder through your scores.

    The encoder learns from what it contributes to the context alone, and not to be found. Search for `detach()` or
    `.data` where the encoder's outputs are compared with the state.
    """
    scores: Tensor = getattr(self, self.method)(encoder_outputs.detach(), decoder_hidden)
    return scores


@mistake(replaces="multiply", dimension="numerics")
def mean_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You take the mean over the features where a dot product adds them up.

    Your scores are smaller by the width of the state, so your weights come out too even. `(a * b).sum(-1)` is the dot
    product of two vectors.
    """
    return (keys * query.unsqueeze(1)).mean(dim=-1)


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """You use ReLU where `concat` has a tanh.

    A tanh lies between -1 and 1 and keeps signs; a ReLU cuts everything below zero off.
    """
    return torch.relu(features)
