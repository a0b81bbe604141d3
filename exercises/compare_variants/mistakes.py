"""What students get wrong when they write three kinds of attention side by side."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.families import gradients, masks, scores, weights
from grader.exercise.mistakes import borrow, mistake

# products of queries and keys
no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
softmax_over_queries = weights.softmax_over_queries
overflowing_softmax = weights.overflowing_softmax
mask_ignored = masks.mask_ignored
mask_inverted = masks.mask_inverted
mask_inverted_with_a_large_number = masks.mask_inverted_with_a_large_number
hidden_scores_are_zero = masks.hidden_scores_are_zero
hidden_scores_are_minus_ten_thousand = masks.hidden_scores_are_minus_ten_thousand
weights_cut_off = gradients.weights_cut_off
values_cut_off = gradients.values_cut_off

# one state at a time
softmax_over_the_batch = borrow(weights.softmax_over_the_first_axis, replaces="share_out")
no_softmax = borrow(weights.no_softmax, replaces="share_out")
sigmoid_for_softmax = borrow(weights.sigmoid_for_softmax, replaces="share_out")


@mistake(replaces="gathered", dimension="gradients")
def learned_weights_cut_off(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """No gradient flows back through the weights of your two modules.

    Their context is right, but W1, W2, v and W never learn where to look: the translator has to make do with weights
    that stay as they began. Search for `detach()`, `.data`, `no_grad` or a new tensor made from the weights.
    """
    return (weights.detach().unsqueeze(1) @ encoder_outputs).squeeze(1)


@mistake(replaces="gathered", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """The context of your two modules is the plain mean of the encoder's outputs.

    The weights are computed, but have no part in it. A translator that is told the mean of all words knows which words
    there were, and not where.
    """
    return encoder_outputs.mean(dim=1)


@mistake(replaces="gathered", dimension="numerics")
def averaged_instead_of_added(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """Your two modules average the weighted outputs where they should add them up.

    The weights add up to one already, so the context is T times too small. What comes after can learn to make up for
    that, as long as all sentences are equally long.
    """
    return (weights.unsqueeze(-1) * encoder_outputs).mean(dim=1)


@mistake(replaces="gathered", dimension="shapes")
def context_keeps_an_axis(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """The context of your two modules keeps an axis of size 1.

    `bmm` wants three axes, and leaves (B, 1, encoder_dim) behind. There is one vector for each sentence: take the axis
    in the middle away again.
    """
    return weights.unsqueeze(1) @ encoder_outputs


@mistake(replaces="hand_over", dimension="shapes")
def results_swapped(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your two modules return the weights first.

    The context comes first, then the weights, as in all three.
    """
    return weights, context


@mistake(replaces="hand_over", dimension="shapes")
def squeezes_too_much(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your two modules squeeze away every axis of size 1.

    With a batch of one an axis disappears that should stay. Tell `squeeze` which axis you mean.
    """
    return context.squeeze(), weights.squeeze()


# additive
@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """The hidden layer of your additive attention has no tanh.

    Without it the score falls apart into one number from the encoder and one from the decoder. The second is the same
    for all positions, and the softmax does not see it: the translator has no say in where it looks, and cannot learn.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """The hidden layer of your additive attention uses a ReLU, not tanh.

    It trains, and better than some, but it is not the attention that was asked for. Compare it with the formula.
    """
    return torch.relu(features)


@mistake(replaces="combine", dimension="shapes")
def state_added_along_time(keys: Tensor, state: Tensor) -> Tensor:
    """Your additive attention adds the decoder's state without giving it a time axis.

    (B, T, a) and (B, a) are aligned from the right, so the sentences of the one meet the words of the other. That is an
    error for most sizes, and silently wrong where there are as many sentences as words.
    """
    return keys + state


@mistake(replaces="combine", dimension="numerics")
def product_for_sum(keys: Tensor, state: Tensor) -> Tensor:
    """Your additive attention multiplies encoder and decoder.

    Attention that multiplies the two is the other kind. Here they meet as a sum, inside of the tanh; that is what it is
    named after.
    """
    return keys * state.unsqueeze(1)


@mistake(replaces="combine", dimension="numerics")
def decoder_ignored(keys: Tensor, state: Tensor) -> Tensor:
    """The decoder's state has no part in the scores of your additive attention.

    All states look at the same words, and W2 never learns. Look at what goes into the tanh.
    """
    return keys


# multiplicative
@mistake(replaces="multiply", dimension="numerics")
def scaled_products(keys: Tensor, state: Tensor) -> Tensor:
    """Your multiplicative attention divides its scores by the root of their width.

    The scaled one does, and is named after it. Luong's goes into the softmax as it is; side by side you can see what
    the difference makes.
    """
    return (keys @ state.unsqueeze(-1)).squeeze(-1) / math.sqrt(state.shape[-1])


@mistake(replaces="multiply", dimension="shapes")
def state_multiplied_along_time(keys: Tensor, state: Tensor) -> Tensor:
    """Your multiplicative attention gives the state no time axis.

    (B, T, d) and (B, d) are aligned from the right, so the sentences of the one meet the words of the other. That is an
    error for most sizes, and silently wrong where there are as many sentences as words.
    """
    return (keys * state).sum(dim=-1)


@mistake(replaces="project", dimension="numerics")
def bent_projection(keys: Tensor, layer: nn.Linear) -> Tensor:
    """Your `general` bends the projected outputs with a tanh.

    Only `concat` has one. In `general` there is nothing but a matrix between encoder and decoder.
    """
    return torch.tanh(layer(keys))


@mistake(replaces="join", dimension="numerics")
def decoder_comes_first(keys: Tensor, state: Tensor) -> Tensor:
    """Your `concat` puts the decoder's state before the encoder's outputs.

    The encoder comes first; W's columns are numbered accordingly.
    """
    return torch.cat((state.unsqueeze(1).expand(-1, keys.shape[1], -1), keys), dim=-1)


@mistake(replaces="check", dimension="shapes")
def unknown_methods_accepted(method: str) -> str:
    """Your multiplicative attention accepts methods that do not exist.

    Whatever is not one of the three names has to raise a `ValueError`, there or in `forward` at the latest. An `else`
    at the end of a chain takes everything; a chain without one ends in an error of another kind, further on.
    """
    return method if method in ("dot", "general") else "concat"


@mistake(replaces="AdditiveAttention.forward", dimension="numerics")
def tanh_before_the_sum(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Your additive attention adds the state's side outside of the tanh.

    The two meet inside of the tanh: tanh(W1 h + W2 s). What is added outside of it is the same for all words of a
    sentence, so the softmax takes it away again, and the state has no say in where you look. Check the brackets.
    """
    features = torch.tanh(self.W1(encoder_outputs)) + self.W2(decoder_hidden).unsqueeze(1)
    found = torch.softmax(features @ self.v, dim=-1)
    return (found.unsqueeze(1) @ encoder_outputs).squeeze(1), found


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def concat_without_tanh(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """The hidden layer of your `concat` has no tanh.

    Without it v and W are one linear map of both, so what the state adds is the same for all words of a sentence, and
    the softmax takes it away again.
    """
    if self.method == "concat":
        state = decoder_hidden.unsqueeze(1).expand(-1, encoder_outputs.shape[1], -1)
        return self.W(torch.cat((encoder_outputs, state), dim=-1)) @ self.v  # type: ignore[no-any-return]
    keys = self.W(encoder_outputs) if self.method == "general" else encoder_outputs
    return (keys @ decoder_hidden.unsqueeze(-1)).squeeze(-1)  # type: ignore[no-any-return]
