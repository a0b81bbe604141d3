"""What students get wrong in additive attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, weights
from grader.exercise.mistakes import mistake, take

softmax_over_the_batch = weights.softmax_over_the_first_axis
from_weights = take(weights, also=("scores_over_their_sum",))
sum_cut_off = gradients.sum_cut_off


@mistake(replaces="activate", dimension="numerics")
def relu_for_tanh(features: Tensor) -> Tensor:
    """Your hidden layer uses a ReLU instead of tanh.

    Bahdanau's score uses tanh. It lets negative features contribute and keeps all features between -1 and 1.
    """
    return torch.relu(features)


@mistake(replaces="activate", dimension="numerics")
def no_tanh(features: Tensor) -> Tensor:
    """Your hidden layer has no tanh.

    Without tanh, the score is the sum of one number from the encoder and one from the decoder. The decoder's number is
    the same for all positions, so the softmax cancels it: your decoder state does not affect the weights.
    """
    return features


@mistake(replaces="activate", dimension="numerics")
def sigmoid_for_tanh(features: Tensor) -> Tensor:
    """Your hidden layer uses a sigmoid instead of tanh.

    The two curves have the same shape, but a sigmoid is never negative. Compare your activation with the formula.
    """
    return torch.sigmoid(features)


@mistake(replaces="combine", dimension="shapes")
def state_added_along_time(keys: Tensor, query: Tensor) -> Tensor:
    """You add the decoder's state without giving it a time axis.

    (B, T, a) and (B, a) are aligned from the right, so the batch axis of the state lines up with the time axis of the
    encoder's outputs. For most sizes this is an error; with as many sentences as words it is silently wrong. Where does
    an axis of size 1 belong?
    """
    return keys + query


@mistake(replaces="combine", dimension="numerics")
def product_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You multiply encoder and decoder features instead of adding them.

    Multiplicative attention is a different method. Here the two projections are added inside the tanh; that is why the
    method is called additive.
    """
    return keys * query.unsqueeze(1)


@mistake(replaces="combine", dimension="numerics")
def decoder_ignored(keys: Tensor, query: Tensor) -> Tensor:
    """The decoder's state does not affect your scores.

    All states get the same weights, and W2 never learns. Check what goes into the tanh.
    """
    return keys


@mistake(replaces="combine", dimension="numerics")
def encoder_ignored(keys: Tensor, query: Tensor) -> Tensor:
    """The encoder's outputs do not affect your scores.

    All positions of a sentence get the same score, so your weights are all equal. Check what goes into the tanh. Maybe
    you expanded the state and did not add the projected encoder outputs.
    """
    return query.unsqueeze(1).expand_as(keys)


@mistake(replaces="combine", dimension="numerics")
def first_state_for_all(keys: Tensor, query: Tensor) -> Tensor:
    """You use the decoder state of the first sentence for all sentences.

    Each sentence of the batch has its own state. Look for an index 0 that removes the batch axis.
    """
    return keys + query[:1].unsqueeze(1)


@mistake(replaces="AdditiveAttention.forward", dimension="numerics")
def each_side_bent_alone(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> Any:
    """Your code does not add encoder and decoder inside the tanh.

    You apply tanh to each of the two, or to the encoder's part only, and add afterwards. The decoder's part is then the
    same number for all positions, so the softmax cancels it. Add first, then apply tanh to the sum.
    """
    keys, query = self.project(encoder_outputs, decoder_hidden)
    scores = (torch.tanh(keys) + torch.tanh(query).unsqueeze(1)) @ self.v
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(1) @ encoder_outputs).squeeze(1), weights


@mistake(replaces="rate", dimension="numerics")
def no_v(features: Tensor, v: Tensor) -> Tensor:
    """You sum the hidden features without v.

    Each feature then has the same weight, and v never learns. v sets how much each feature contributes, and with which
    sign.
    """
    return features.sum(dim=-1)


@mistake(replaces="rate", dimension="numerics")
def scaled_scores(features: Tensor, v: Tensor) -> Tensor:
    """You divide the scores by √attention_dim.

    That belongs to dot products, which grow with their width. Additive attention has no such factor: tanh keeps every
    feature between -1 and 1, and v learns its own scale.
    """
    return features @ v / math.sqrt(v.shape[0])


@mistake(replaces="rate", dimension="numerics")
def bent_scores(features: Tensor, v: Tensor) -> Tensor:
    """You apply tanh to the scores as well.

    Your scores lie between -1 and 1, so no word can get much more weight than another. Apply tanh to the hidden layer
    only.
    """
    return torch.tanh(features @ v)


@mistake(replaces="AdditiveAttention.project", dimension="shapes")
def weights_swapped(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """You apply W2 to the encoder's outputs and W1 to the decoder's state.

    If both have the same width, no error is raised but the numbers are wrong; otherwise the shapes do not fit. W1
    belongs to the encoder's outputs.
    """
    return self.W2(encoder_outputs), self.W1(decoder_hidden)


@mistake(replaces="AdditiveAttention.gather", dimension="shapes")
def mixes_projected_outputs(self: Any, weights: Tensor, encoder_outputs: Tensor) -> Tensor:
    """You average the projected encoder outputs.

    Your context is attention_dim wide. The projection is for the scores only. The context is the weighted sum of the
    encoder's original outputs.
    """
    mixed: Tensor = (weights.unsqueeze(1) @ self.W1(encoder_outputs)).squeeze(1)
    return mixed


@mistake(replaces="mix", dimension="numerics")
def mean_of_the_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the plain mean of the encoder's outputs.

    You compute the weights but do not use them for the context.
    """
    return values.mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def last_output_alone(weights: Tensor, values: Tensor) -> Tensor:
    """Your context is the encoder's last output.

    Models without attention did it that way. You compute the weights but do not use them for the context.
    """
    return values[:, -1]


@mistake(replaces="mix", dimension="numerics")
def first_sentence_for_all(weights: Tensor, values: Tensor) -> Tensor:
    """You use the weights of the first sentence for all sentences.

    Each sentence of the batch has its own scores and weights. Look for an index 0 that removes the batch axis.
    """
    return (weights[:1].unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="shapes")
def outputs_not_added_up(weights: Tensor, values: Tensor) -> Tensor:
    """You weight the encoder's outputs but do not sum them.

    Your context has one vector for each source position. It must have one vector for each sentence. Along which axis do
    you have to sum?
    """
    return weights.unsqueeze(-1) * values


@mistake(replaces="hand_over", dimension="shapes")
def context_keeps_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context keeps an axis of size 1.

    `bmm` needs three axes and returns (B, 1, encoder_dim). The context has one vector for each sentence: remove the
    middle axis.
    """
    return context.unsqueeze(1), weights


@mistake(replaces="hand_over", dimension="shapes")
def weights_keep_an_axis(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your weights keep an axis of size 1.

    A layer from attention_dim to one feature returns (B, T, 1). There is one number for each source position: remove
    the last axis.
    """
    return context, weights.unsqueeze(-1)


@mistake(replaces="hand_over", dimension="shapes")
def squeezes_too_much(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You remove every axis of size 1.

    With a batch of one, or with sentences of one word, `squeeze` then removes an axis that must stay. Tell `squeeze`
    which axis to remove.
    """
    return context.squeeze(), weights.squeeze()


@mistake(replaces="hand_over", dimension="shapes")
def results_swapped(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """You return the weights before the context.

    Return the context first, then the weights.
    """
    return weights, context


@mistake(replaces="hand_over", dimension="shapes")
def context_alone(context: Tensor, weights: Tensor) -> Any:
    """You return only the context.

    Return the weights too, as the second of two results. They show where the decoder attends.
    """
    return context


@mistake(replaces="mix", dimension="gradients")
def weights_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through your attention weights.

    The context is right, but W1, W2 and v can never learn where to attend. Look for `detach()`, `.data`, `no_grad` or a
    new tensor made from the weights.
    """
    return (weights.detach().unsqueeze(1) @ values).squeeze(1)


@mistake(replaces="mix", dimension="gradients")
def outputs_cut_off(weights: Tensor, values: Tensor) -> Tensor:
    """No gradient flows back through the outputs in your weighted sum.

    The encoder then learns only through the scores and not through its contribution to the context. Look for `detach()`
    or `.data` where you multiply the encoder's outputs by the weights.
    """
    return (weights.unsqueeze(1) @ values.detach()).squeeze(1)


@mistake(replaces="hand_over", dimension="gradients")
def everything_cut_off(context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Your context is detached from the computation graph.

    The values are right, but no gradient reaches any input or parameter. Look for `detach()`, `.data`, `.numpy()`,
    `no_grad` or `torch.tensor(...)` around the result.
    """
    return context.detach(), weights


@mistake(replaces="AdditiveAttention.project", dimension="gradients")
def state_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """No gradient flows back to the decoder's state.

    W2 learns, but the decoder that computed the state does not. Look for `detach()`, `.data` or `torch.tensor(...)`
    around the state.
    """
    return self.W1(encoder_outputs), self.W2(decoder_hidden.detach())


@mistake(replaces="AdditiveAttention.project", dimension="gradients")
def scored_outputs_cut_off(self: Any, encoder_outputs: Tensor, decoder_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """No gradient flows back to the encoder through your scores.

    W1 learns, but the encoder learns only through its contribution to the context and not through the scores. Look for
    `detach()` or `.data` where you project the encoder's outputs.
    """
    return self.W1(encoder_outputs.detach()), self.W2(decoder_hidden)


@mistake(replaces="combine", dimension="numerics")
def difference_for_sum(keys: Tensor, query: Tensor) -> Tensor:
    """You subtract the projected state instead of adding it.

    The formula is tanh(W1 h + W2 s). In training, W2 could learn the opposite sign and hide this mistake. Here the
    parameters are fixed.
    """
    return keys - query.unsqueeze(1)


@mistake(replaces="mix", dimension="numerics")
def context_averaged(weights: Tensor, values: Tensor) -> Tensor:
    """You average the weighted outputs over positions instead of summing them.

    The weights already add up to one, so the weighted sum is an average. Taking the mean divides by the number of
    positions again.
    """
    return (weights.unsqueeze(-1) * values).mean(dim=1)


@mistake(replaces="mix", dimension="numerics")
def bent_outputs(weights: Tensor, values: Tensor) -> Tensor:
    """You apply tanh to the encoder's outputs before you sum them.

    Apply tanh only in the scores. The weighted sum uses the encoder's outputs unchanged.
    """
    return (weights.unsqueeze(1) @ torch.tanh(values)).squeeze(1)
