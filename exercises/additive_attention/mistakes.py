"""What students get wrong in additive attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

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


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """You bend the hidden layer with a relu.

    Bahdanau's score uses tanh, which lets negative features speak, too, and keeps all of them between -1 and 1.
    """
    return torch.relu(features)


@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """Your hidden layer has no tanh.

    Without it the score falls apart into one number from the encoder and one from the decoder. The second is the same
    for all positions, and the softmax does not see it: your decoder has no say in where it looks.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def sigmoid_for_tanh(features: Tensor) -> Tensor:
    """Your hidden layer uses a sigmoid, not tanh.

    Both bend in the same way, but a sigmoid is never negative. Compare your activation with the formula.
    """
    return torch.sigmoid(features)


@mistake(replaces="combine", dimension="shapes")
def state_added_along_time(keys: Tensor, query: Tensor) -> Tensor:
    """You add the decoder's state without giving it a time axis.

    (B, T, a) and (B, a) are aligned from the right, so the sentences of the one meet the words of the other. That is an
    error for most sizes, and silently wrong where there are as many sentences as words. Where does an axis of size 1
    belong?
    """
    return keys + query


@mistake(replaces="combine", dimension="numerics")
def product_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You multiply encoder and decoder where they should be added.

    Attention that multiplies the two is another kind. Here they meet as a sum, inside of the tanh; that is what it is
    named after.
    """
    return keys * query.unsqueeze(1)


@mistake(replaces="combine", dimension="numerics")
def decoder_ignored(keys: Tensor, query: Tensor) -> Tensor:
    """Your decoder's state has no part in the scores.

    All states look at the same words, and W2 never learns. Look at what goes into the tanh.
    """
    return keys


@mistake(replaces="combine", dimension="numerics")
def encoder_ignored(keys: Tensor, query: Tensor) -> Tensor:
    """The encoder's outputs have no part in your scores.

    All positions of a sentence get the same score, so your weights are all equal. Look at what goes into the tanh, and
    at whether the state was expanded over the encoder's outputs.
    """
    return query.unsqueeze(1).expand_as(keys)


@mistake(replaces="combine", dimension="numerics")
def first_state_for_all(keys: Tensor, query: Tensor) -> Tensor:
    """All your sentences use the decoder state of the first.

    Each sentence of the batch has a state of its own. Look for an index 0 that takes the batch axis away.
    """
    return keys + query[:1].unsqueeze(1)


@mistake(replaces="AdditiveAttention.forward", dimension="numerics")
def each_side_bent_alone(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Any:
    """Your encoder and your decoder do not meet inside of the tanh.

    You apply tanh to each of the two, or to the encoder's side alone, and add afterwards. What the decoder gives is
    then the same number for all positions, and the softmax does not see it. Add first, and take the tanh of the sum.
    """
    keys, query = self.project(encoder_outputs, decoder_hidden)
    scores = (torch.tanh(keys) + torch.tanh(query).unsqueeze(1)) @ self.v
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(1) @ encoder_outputs).squeeze(1), weights


@mistake(replaces="rate", dimension="numerics")
def no_v(features: Tensor, v: Tensor) -> Tensor:
    """You add the hidden features up without v.

    Each feature then counts the same, and v never learns. v says how much each of them matters, and in which direction.
    """
    return features.sum(dim=-1)


@mistake(replaces="rate", dimension="numerics")
def scaled_scores(features: Tensor, v: Tensor) -> Tensor:
    """You divide the scores by the root of attention_dim.

    That belongs to dot products, which grow with their width. Additive attention has no such factor: tanh keeps every
    feature between -1 and 1, and v learns its size.
    """
    return features @ v / math.sqrt(v.shape[0])


@mistake(replaces="rate", dimension="numerics")
def bent_scores(features: Tensor, v: Tensor) -> Tensor:
    """You apply tanh to the scores as well.

    Your scores lie between -1 and 1, so no word can get much more weight than another. The tanh belongs to the hidden
    layer alone.
    """
    return torch.tanh(features @ v)


@mistake(replaces="AdditiveAttention.project", dimension="shapes")
def weights_swapped(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """You send the encoder through W2 and the decoder through W1.

    Where the two are equally wide nothing complains, and the numbers are wrong; elsewhere the shapes do not fit. W1 is
    for the encoder's outputs.
    """
    return self.W2(encoder_outputs), self.W1(decoder_hidden)


@mistake(replaces="AdditiveAttention.gather", dimension="shapes")
def mixes_projected_outputs(self: Any, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """You mix the projected encoder outputs.

    Your context is attention_dim wide. The projection is for the scores only; what is gathered is what the encoder gave
    you.
    """
    mixed: Tensor = (weights.unsqueeze(1) @ self.W1(encoder_outputs)).squeeze(1)
    return mixed


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the plain mean of the encoder's outputs.

    The weights are computed, but have no part in the context.
    """
    return values.mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def last_output_alone(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the encoder's last output.

    That is how it was done before there was attention. The weights are computed, but have no part in the context.
    """
    return values[:, -1]


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

    A layer from attention_dim to one feature leaves (B, T, 1) behind. There is one number for each source position:
    take the last axis away.
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

    The context is right, but W1, W2 and v can never learn where to look. Search for `detach()`, `.data`, `no_grad` or a
    new tensor made from the weights.
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


@mistake(replaces="AdditiveAttention.project", dimension="gradients")
def state_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """No gradient flows back to the decoder's state.

    W2 learns, but the decoder that made the state cannot learn to ask. Search for `detach()`, `.data` or
    `torch.tensor(...)` round the state.
    """
    return self.W1(encoder_outputs), self.W2(decoder_hidden.detach())


@mistake(replaces="AdditiveAttention.project", dimension="gradients")
def scored_outputs_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """No gradient flows back to the encoder through your scores.

    W1 learns, but the encoder learns from what it contributes to the context alone, and not to be found. Search for
    `detach()` or `.data` where the encoder's outputs are projected.
    """
    return self.W1(encoder_outputs.detach()), self.W2(decoder_hidden)


@mistake(replaces="combine", dimension="numerics")
def difference_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You subtract the state where it has to be added.

    The hidden layer gets `W1 h + W2 s`. With weights that learn, a sign is soon made good; here the weights are given.
    """
    return keys - query.unsqueeze(1)


@mistake(replaces="mix", dimension="numerics")
def context_averaged(weights: Tensor, values: Tensor) -> Tensor:
    """You take the mean over positions of the weighted outputs, not their sum.

    The weights add up to one already: their sum is the average. A mean divides by the number of positions once more.
    """
    return (weights.unsqueeze(-1) * values).mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def bent_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """You apply tanh to the encoder's outputs before you add them up.

    The tanh belongs to the scores. What is mixed are the outputs as they came.
    """
    return (weights.unsqueeze(1) @ torch.tanh(values)).squeeze(1)
