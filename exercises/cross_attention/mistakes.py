"""What students get wrong in cross-attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, scores, weights
from grader.exercise.mistakes import mistake

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_itself = scores.scaled_by_the_width_itself
multiplied_by_the_root = scores.multiplied_by_the_root
scaled_by_the_fourth_root = scores.scaled_by_the_fourth_root
scaled_by_a_length = scores.scaled_by_the_length
scaled_by_the_number_of_questions = scores.scaled_by_the_number_of_queries
distances_for_products = scores.distances_for_products
cosines_for_products = scores.cosines_for_products

softmax_without_shift = weights.overflowing_softmax
scores_clamped = weights.scores_clamped
shifted_by_the_largest_of_all = weights.shifted_by_the_largest_of_all
softmax_over_all_pairs = weights.softmax_over_all_pairs
epsilon_in_the_denominator = weights.epsilon_in_the_denominator
sigmoid_for_softmax = weights.sigmoid_for_softmax
log_softmax_for_softmax = weights.log_softmax_for_softmax
softmax_of_the_softmax = weights.softmax_of_the_softmax
powers_of_two = weights.powers_of_two
no_softmax = weights.no_softmax

mean_of_the_values = weights.mean_of_the_values
adds_a_batch_axis = weights.adds_a_batch_axis
detached_weights = gradients.weights_cut_off
detached_values = gradients.values_cut_off
detached_queries = gradients.queries_cut_off
detached_keys = gradients.keys_cut_off
detached_output = gradients.everything_cut_off


@mistake(replaces="CrossAttention.forward", dimension="numerics")
def scaled_by_the_values_width(self: Any, x_1: Tensor, x_2: Tensor) -> Tensor:
    """You divide the scores by the root of d_out_v.

    Scores are products of queries and keys; values have no part in them. Take the root of the width that queries and
    keys have, d_out_kq.
    """
    queries, keys, values = self.project(x_1, x_2)
    return torch.softmax(queries @ keys.T / math.sqrt(values.shape[-1]), dim=-1) @ values


@mistake(replaces="CrossAttention.forward", dimension="numerics")
def scaled_by_the_inputs_width(self: Any, x_1: Tensor, x_2: Tensor) -> Tensor:
    """You divide the scores by the root of d_in.

    d_in is the width before the projection. The dot products are between queries and keys, and those are d_out_kq
    wide.
    """
    queries, keys, values = self.project(x_1, x_2)
    return torch.softmax(queries @ keys.T / math.sqrt(x_1.shape[-1]), dim=-1) @ values


@mistake(replaces="attend", dimension="numerics")
def scaled_after_the_softmax(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """You divide by the root of the keys' width after the softmax.

    Your weights add up to less than one, so the output is too small, and the softmax itself sees scores that are too
    large. The division must come before the softmax.
    """
    return torch.softmax(queries @ keys.T, dim=-1) / math.sqrt(keys.shape[-1]) @ values


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_the_questions(scores: Tensor) -> Tensor:
    """Your softmax runs over the positions of x_1.

    The weights of each answer add up to one; those of each question should. Scores have a row for each position of
    x_1 and a column for each of x_2: along which axis does one question find all its answers?
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def causal_mask(scores: Tensor) -> Tensor:
    """You hide the later positions of x_2, as in self-attention.

    Position i of your output sees only the first i + 1 positions of x_2. But the two sequences have no common clock:
    every position of x_1 may see all of x_2. Leave the mask out.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="CrossAttention.project", dimension="numerics")
def keys_and_values_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You take keys and values from x_1.

    Your module does self-attention on x_1 and never looks at x_2. The sequence that answers must give both the keys
    and the values.
    """
    return x_1 @ self.W_query, x_1 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def values_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Your values come from x_1.

    Keys and values belong together: the weight of a key says how much of its own value to take. Both describe the
    positions of the sequence that is asked, and there may be more or fewer of those than there are questions.
    """
    return x_1 @ self.W_query, x_2 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def keys_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Your keys come from x_1.

    The questions are then compared with each other, and the answers are not asked at all. Which sequence is it that
    the queries look into?
    """
    return x_1 @ self.W_query, x_1 @ self.W_key, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def queries_from_x_2(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You take the queries from x_2.

    Your module does self-attention on x_2 and never looks at x_1, so it has a row of output for each position of x_2.
    The sequence that asks is x_1.
    """
    return x_2 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def roles_swapped(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You have swapped the two sequences.

    In your module x_2 asks and x_1 answers, so there is a row of output for each position of x_2. Exchange them where
    you project.
    """
    return x_2 @ self.W_query, x_1 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def both_sequences_answer(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Your x_1 answers itself as well.

    You take keys and values from both sequences together, so part of the weight goes to x_1. Only the positions of
    x_2 may answer.
    """
    both = torch.cat((x_1, x_2))
    return x_1 @ self.W_query, both @ self.W_key, both @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def query_weights_for_the_keys(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You project the keys with W_query.

    Queries and keys go through the same weights, and W_key is never used. Look at the line that makes the keys.
    """
    return x_1 @ self.W_query, x_2 @ self.W_query, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def query_and_key_weights_swapped(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You have swapped W_query and W_key.

    x_1 goes through W_key and x_2 through W_query. The shapes fit, so nothing complains; the scores are others. Look
    at the lines that make queries and keys.
    """
    return x_1 @ self.W_key, x_2 @ self.W_query, x_2 @ self.W_value


@mistake(replaces="attend", dimension="shapes")
def mixes_the_keys(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """You gather the keys, not the values.

    Your output is d_out_kq wide. Keys only decide how much each position matters; what is gathered from it is its
    value. Look at the last product.
    """
    return torch.softmax(queries @ keys.T / math.sqrt(keys.shape[-1]), dim=-1) @ keys


@mistake(replaces="CrossAttention.project", dimension="gradients")
def detached_answers(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You cut x_2 off from the graph.

    The output is right, but no gradient reaches x_2: an encoder behind it could never be trained. Search for
    `.detach()`, `.data` or `torch.no_grad()` on the way from x_2 to the keys and values.
    """
    return x_1 @ self.W_query, x_2.detach() @ self.W_key, x_2.detach() @ self.W_value
