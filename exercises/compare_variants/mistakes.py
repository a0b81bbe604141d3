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
    """No gradient flows back through the attention weights of your two modules.

    Their context is right, but W1, W2, v and W never learn where to attend: the model trains with their initial values.
    Look for `detach()`, `.data`, `no_grad` or a new tensor made from the weights.
    """
    return (weights.detach().unsqueeze(1) @ encoder_outputs).squeeze(1)


@mistake(replaces="gathered", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """The context of your two modules is the plain mean of the encoder's outputs.

    You compute the weights but do not use them for the context. From the mean of all words, the model knows which words
    occur but not where.
    """
    return encoder_outputs.mean(dim=1)


@mistake(replaces="gathered", dimension="numerics")
def averaged_instead_of_added(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """Your two modules average the weighted outputs instead of summing them.

    The weights already add up to one, so your context is too small by a factor of T. Later layers can learn to correct
    this only if all sentences have the same length.
    """
    return (weights.unsqueeze(-1) * encoder_outputs).mean(dim=1)


@mistake(replaces="gathered", dimension="shapes")
def context_keeps_an_axis(weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """The context of your two modules keeps an axis of size 1.

    `bmm` needs three axes and returns (B, 1, encoder_dim). The context has one vector for each sentence: remove the
    middle axis.
    """
    return weights.unsqueeze(1) @ encoder_outputs


@mistake(replaces="hand_over", dimension="shapes")
def results_swapped(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your two modules return the weights before the context.

    Return the context first, then the weights.
    """
    return weights, context


@mistake(replaces="hand_over", dimension="shapes")
def squeezes_too_much(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your two modules remove every axis of size 1.

    With a batch of one, `squeeze` removes an axis that must stay. Tell `squeeze` which axis to remove.
    """
    return context.squeeze(), weights.squeeze()


# additive
@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """The hidden layer of your additive attention has no tanh.

    Without tanh, the score is the sum of one number from the encoder and one from the decoder. The decoder's number is
    the same for all positions, so the softmax cancels it: the decoder cannot choose where to attend, and the model
    cannot learn.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """The hidden layer of your additive attention uses a ReLU instead of tanh.

    The model may train well with it, but it is not the attention of the statement. Compare your activation with the
    formula.
    """
    return torch.relu(features)


@mistake(replaces="combine", dimension="shapes")
def state_added_along_time(keys: Tensor, state: Tensor) -> Tensor:
    """Your additive attention adds the decoder's state without giving it a time axis.

    (B, T, a) and (B, a) are aligned from the right, so the batch axis of the state lines up with the time axis of the
    encoder's outputs. For most sizes this is an error; with as many sentences as words it is silently wrong.
    """
    return keys + state


@mistake(replaces="combine", dimension="numerics")
def product_for_sum(keys: Tensor, state: Tensor) -> Tensor:
    """Your additive attention multiplies encoder and decoder features.

    Multiplicative attention is the other module. Here the two projections are added inside the tanh; that is why the
    method is called additive.
    """
    return keys * state.unsqueeze(1)


@mistake(replaces="combine", dimension="numerics")
def decoder_ignored(keys: Tensor, state: Tensor) -> Tensor:
    """The decoder's state does not affect the scores of your additive attention.

    All states get the same weights, and W2 never learns. Check what goes into the tanh.
    """
    return keys


# multiplicative
@mistake(replaces="multiply", dimension="numerics")
def scaled_products(keys: Tensor, state: Tensor) -> Tensor:
    """Your multiplicative attention divides its scores by the root of their width.

    Only scaled dot-product attention does that. Luong's scores go into the softmax unscaled. The report shows what
    difference this makes.
    """
    return (keys @ state.unsqueeze(-1)).squeeze(-1) / math.sqrt(state.shape[-1])


@mistake(replaces="multiply", dimension="shapes")
def state_multiplied_along_time(keys: Tensor, state: Tensor) -> Tensor:
    """Your multiplicative attention gives the state no time axis.

    (B, T, d) and (B, d) are aligned from the right, so the batch axis of the state lines up with the time axis of the
    encoder's outputs. For most sizes this is an error; with as many sentences as words it is silently wrong.
    """
    return (keys * state).sum(dim=-1)


@mistake(replaces="project", dimension="numerics")
def bent_projection(keys: Tensor, layer: nn.Linear) -> Tensor:
    """Your `general` method applies tanh to the projected outputs.

    Only `concat` has a tanh. `general` has nothing but a matrix between encoder and decoder.
    """
    return torch.tanh(layer(keys))


@mistake(replaces="join", dimension="numerics")
def decoder_comes_first(keys: Tensor, state: Tensor) -> Tensor:
    """Your `concat` puts the decoder's state before the encoder's outputs.

    The encoder's output must come first, because the columns of W are in this order.
    """
    return torch.cat((state.unsqueeze(1).expand(-1, keys.shape[1], -1), keys), dim=-1)


@mistake(replaces="check", dimension="shapes")
def unknown_methods_accepted(method: str) -> str:
    """Your multiplicative attention accepts unknown methods.

    Any name other than the three must raise a `ValueError`, in the constructor or at the latest in `forward`. A final
    `else` accepts every name; without an `else`, an unknown name causes a different error later.
    """
    return method if method in ("dot", "general") else "concat"


@mistake(replaces="AdditiveAttention.forward", dimension="numerics")
def tanh_before_the_sum(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Your additive attention adds the projected state outside the tanh.

    The formula is tanh(W1 h + W2 s). A term added outside the tanh is the same for all words of a sentence, so the
    softmax cancels it, and the state does not affect the weights. Check the brackets.
    """
    features = torch.tanh(self.W1(encoder_outputs)) + self.W2(decoder_hidden).unsqueeze(1)
    found = torch.softmax(features @ self.v, dim=-1)
    return (found.unsqueeze(1) @ encoder_outputs).squeeze(1), found


@mistake(replaces="MultiplicativeAttention.score", dimension="numerics")
def concat_without_tanh(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Tensor:
    """The hidden layer of your `concat` method has no tanh.

    Without tanh, v and W are one linear map. The state then adds the same number to the score of every word, and the
    softmax cancels it.
    """
    if self.method == "concat":
        state = decoder_hidden.unsqueeze(1).expand(-1, encoder_outputs.shape[1], -1)
        return self.W(torch.cat((encoder_outputs, state), dim=-1)) @ self.v  # type: ignore[no-any-return]
    keys = self.W(encoder_outputs) if self.method == "general" else encoder_outputs
    return (keys @ decoder_hidden.unsqueeze(-1)).squeeze(-1)  # type: ignore[no-any-return]
