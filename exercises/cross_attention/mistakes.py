"""What students get wrong in cross-attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import gradients, scores, weights
from grader.exercise.mistakes import mistake, take

from_scores = take(
    scores,
    except_=("queries_meet_queries", "keys_meet_keys", "keys_ask_queries"),
    also=("scaled_by_the_fourth_root", "distances_for_products", "cosines_for_products"),
)
scaled_by_a_length = scores.scaled_by_the_length
scaled_by_the_number_of_questions = scores.scaled_by_the_number_of_queries

softmax_without_shift = weights.overflowing_softmax
from_weights = take(
    weights,
    except_=("weights_transposed",),
    also=("softmax_over_all_pairs", "softmax_of_the_softmax", "powers_of_two", "mean_of_the_values"),
)

detached_weights = gradients.weights_cut_off
detached_values = gradients.values_cut_off
detached_queries = gradients.queries_cut_off
detached_keys = gradients.keys_cut_off
detached_output = gradients.everything_cut_off


@mistake(replaces="CrossAttention.forward", dimension="numerics")
def scaled_by_the_values_width(self: Any, x_1: Tensor, x_2: Tensor) -> Tensor:
    """You divide the scores by the root of d_out_v.

    Scores are dot products of queries and keys; the values are not involved. Use the root of the width of queries and
    keys, d_out_kq.
    """
    queries, keys, values = self.project(x_1, x_2)
    return torch.softmax(queries @ keys.T / math.sqrt(values.shape[-1]), dim=-1) @ values


@mistake(replaces="CrossAttention.forward", dimension="numerics")
def scaled_by_the_inputs_width(self: Any, x_1: Tensor, x_2: Tensor) -> Tensor:
    """You divide the scores by the root of d_in.

    d_in is the width before the projection. The dot products are between queries and keys, which are d_out_kq wide.
    """
    queries, keys, values = self.project(x_1, x_2)
    return torch.softmax(queries @ keys.T / math.sqrt(x_1.shape[-1]), dim=-1) @ values


@mistake(replaces="attend", dimension="numerics")
def scaled_after_the_softmax(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """You divide by the root of the keys' width after the softmax.

    Your weights add up to less than one, so your output is too small, and the softmax gets scores that are too large.
    Divide the scores before the softmax.
    """
    return torch.softmax(queries @ keys.T, dim=-1) / math.sqrt(keys.shape[-1]) @ values


@mistake(replaces="normalise", dimension="numerics")
def softmax_over_the_questions(scores: Tensor) -> Tensor:
    """Your softmax runs over the positions of x_1.

    In your code the weights of each key add up to one; those of each query should. Scores have a row for each position
    of x_1 and a column for each position of x_2. Which axis is the key axis?
    """
    return torch.softmax(scores, dim=0)


@mistake(replaces="normalise", dimension="numerics")
def causal_mask(scores: Tensor) -> Tensor:
    """You mask the later positions of x_2, as in causal self-attention.

    Position i of your output attends only to the first i + 1 positions of x_2. But positions of x_1 and x_2 have no
    common order: every position of x_1 may attend to all of x_2. Leave the mask out.
    """
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


@mistake(replaces="CrossAttention.project", dimension="numerics")
def keys_and_values_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You compute keys and values from x_1.

    Your module does self-attention on x_1 and never uses x_2. Both keys and values must come from x_2.
    """
    return x_1 @ self.W_query, x_1 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def values_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You compute the values from x_1.

    Keys and values belong together: the weight of a key says how much of its own value to use. Both must come from x_2,
    which may have another length than x_1.
    """
    return x_1 @ self.W_query, x_2 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def keys_from_x_1(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You compute the keys from x_1.

    Your scores compare the positions of x_1 with each other and do not depend on x_2. To which sequence should the
    queries attend?
    """
    return x_1 @ self.W_query, x_1 @ self.W_key, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def queries_from_x_2(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You compute the queries from x_2.

    Your module does self-attention on x_2 and never uses x_1, so your output has a row for each position of x_2. The
    queries must come from x_1.
    """
    return x_2 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="shapes")
def roles_swapped(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You swap the two sequences.

    Your queries come from x_2 and your keys and values from x_1, so your output has a row for each position of x_2.
    Swap them where you project.
    """
    return x_2 @ self.W_query, x_1 @ self.W_key, x_1 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def both_sequences_answer(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You compute keys and values from both sequences.

    Part of the weight then goes to positions of x_1. Keys and values must come from x_2 only.
    """
    both = torch.cat((x_1, x_2))
    return x_1 @ self.W_query, both @ self.W_key, both @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def query_weights_for_the_keys(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You project the keys with W_query.

    You use the same matrix for queries and keys, and W_key is never used. Check the line that computes the keys.
    """
    return x_1 @ self.W_query, x_2 @ self.W_query, x_2 @ self.W_value


@mistake(replaces="CrossAttention.project", dimension="numerics")
def query_and_key_weights_swapped(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You swap W_query and W_key.

    You project x_1 with W_key and x_2 with W_query. The shapes fit, so no error is raised, but the scores are wrong.
    Check the lines that compute queries and keys.
    """
    return x_1 @ self.W_key, x_2 @ self.W_query, x_2 @ self.W_value


@mistake(replaces="attend", dimension="shapes")
def mixes_the_keys(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """You average the keys instead of the values.

    Your output is d_out_kq wide. Keys only determine the weights; the output is the weighted sum of the values. Check
    the last product.
    """
    return torch.softmax(queries @ keys.T / math.sqrt(keys.shape[-1]), dim=-1) @ keys


@mistake(replaces="CrossAttention.project", dimension="gradients")
def detached_answers(self: Any, x_1: Tensor, x_2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """You detach x_2 from the graph.

    No output shows it, but no gradient reaches x_2, so an encoder that produces x_2 cannot be trained. Look for
    `.detach()`, `.data` or `torch.no_grad()` between x_2 and the keys and values.
    """
    return x_1 @ self.W_query, x_2.detach() @ self.W_key, x_2.detach() @ self.W_value
