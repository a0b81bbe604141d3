"""What students get wrong in the learned encoding."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.exercise.families import dropouts
from grader.exercise.mistakes import mistake

drops_in_eval = dropouts.drops_in_eval
never_drops = dropouts.never_drops
drops_without_scaling = dropouts.drops_without_rescaling
keeps_what_it_should_drop = dropouts.keeps_what_it_should_drop
scales_in_eval = dropouts.scales_in_eval
dropped_ones_learn = dropouts.dropped_ones_learn


@mistake(replaces="begin", dimension="numerics")
def begins_with_one(table: nn.Embedding) -> None:
    """Your table is initialised with standard deviation 1.

    That is the default of `nn.Embedding`; the exercise asks for 0.02. If you already call `nn.init.normal_`, check its
    arguments: the second one is the mean, the third one the standard deviation.
    """


@mistake(replaces="begin", dimension="numerics")
def variance_for_deviation(table: nn.Embedding) -> None:
    """Your table is initialised with *variance* 0.02.

    Your standard deviation is √0.02, about 0.14. The exercise asks for a standard deviation of 0.02.
    """
    nn.init.normal_(table.weight, std=math.sqrt(0.02))


@mistake(replaces="begin", dimension="numerics")
def spread_between_the_deviations(table: nn.Embedding) -> None:
    """Your table is initialised uniformly between -0.02 and 0.02.

    A uniform distribution between -a and a has standard deviation a/√3, about 0.012 here. The exercise asks for a
    standard deviation of 0.02.
    """
    nn.init.uniform_(table.weight, -0.02, 0.02)


@mistake(replaces="begin", dimension="numerics")
def begins_above_zero(table: nn.Embedding) -> None:
    """Your table is initialised with positive numbers only.

    `torch.rand` draws numbers between 0 and 1, so 0.02 times that is never negative. The mean must be 0 and the
    standard deviation 0.02.
    """
    nn.init.uniform_(table.weight, 0.0, 0.02)


@mistake(replaces="begin", dimension="numerics")
def begins_with_zeros(table: nn.Embedding) -> None:
    """Your table is initialised with zeros.

    The exercise asks for random numbers with mean 0 and standard deviation 0.02.
    """
    nn.init.zeros_(table.weight)


@mistake(replaces="begin", dimension="numerics")
def begins_with_one_number(table: nn.Embedding) -> None:
    """Your table is initialised with 0.02 everywhere.

    The mean must be 0 and the standard deviation 0.02. Draw the numbers at random.
    """
    nn.init.constant_(table.weight, 0.02)


@mistake(replaces="begin", dimension="numerics")
def deviation_from_the_width(table: nn.Embedding) -> None:
    """Your standard deviation is one over the root of `d_model`.

    That is usual for the weights of a layer. Here it is 0.02 for every width.
    """
    nn.init.normal_(table.weight, std=table.embedding_dim**-0.5)


@mistake(replaces="begin", dimension="numerics")
def begins_like_a_layer(table: nn.Embedding) -> None:
    """The scale of your initial table depends on its size.

    Xavier and similar initialisations use the numbers of rows and columns. Here the standard deviation is 0.02 for
    every size.
    """
    nn.init.xavier_uniform_(table.weight)


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(x: Tensor, max_len: int) -> Tensor:
    """Your positions start at 1.

    The first token has position 0. All your rows are shifted by one, and in a sequence of length `max_len` the last
    token has no row left.
    """
    return torch.arange(1, x.shape[1] + 1)


@mistake(replaces="positions", dimension="numerics")
def counted_along_the_batch(x: Tensor, max_len: int) -> Tensor:
    """You count sequences, not tokens.

    All tokens of your first sequence get the encoding of position 0, and all tokens of the second get that of position
    1. Your input is (batch, time, d_model): check which axis you take the number of positions from.
    """
    return torch.arange(x.shape[0])[:, None]


@mistake(replaces="positions", dimension="numerics")
def counted_from_the_end(x: Tensor, max_len: int) -> Tensor:
    """You use the last rows of the table.

    A sequence of T tokens uses the first T rows. Check the slice: is it `[:T]` or `[-T:]`?
    """
    return torch.arange(max_len - x.shape[1], max_len)


@mistake(replaces="positions", dimension="numerics")
def counted_backwards(x: Tensor, max_len: int) -> Tensor:
    """Your positions are in reverse order.

    Your last token has position 0; it should be the first token.
    """
    return torch.arange(x.shape[1]).flip(0)


@mistake(replaces="positions", dimension="numerics")
def stretched_over_the_table(x: Tensor, max_len: int) -> Tensor:
    """You spread the tokens over the whole table.

    With that, the encoding of a position depends on the length of the sequence. Token t uses row t.
    """
    return torch.arange(x.shape[1]) * max_len // x.shape[1]


@mistake(replaces="positions", dimension="numerics")
def same_position_for_all(x: Tensor, max_len: int) -> Tensor:
    """All your tokens get the same row, that of the last position.

    T tokens need T rows, from 0 to T - 1. Use `arange(T)` instead of a single number.
    """
    return torch.full((x.shape[1],), x.shape[1] - 1)


@mistake(replaces="positions", dimension="numerics")
def first_row_for_all(x: Tensor, max_len: int) -> Tensor:
    """All your tokens get row 0.

    You look up zeros instead of the positions 0, 1, 2, ….
    """
    return torch.zeros(x.shape[1], dtype=torch.long)


@mistake(replaces="look_up", dimension="gradients")
def table_cut_off(table: nn.Embedding, at: Tensor) -> Tensor:
    """No gradient reaches your table.

    No output shows it, but the position vectors are never trained. Look for `detach()`, `.data`, `no_grad`, a frozen
    table, or a new tensor made from the table.
    """
    return table(at).detach()


@mistake(replaces="look_up", dimension="gradients")
def first_position_never_learns(table: nn.Embedding, at: Tensor) -> Tensor:
    """Row 0 of your table is never trained.

    With `padding_idx=0`, PyTorch treats row 0 as padding and gives it no gradient. Here row 0 is the first position.
    """
    return F.embedding(at, table.weight, padding_idx=0)


@mistake(replaces="look_up", dimension="numerics")
def cut_to_length_one(table: nn.Embedding, at: Tensor) -> Tensor:
    """Your table rescales its rows.

    With `max_norm=1`, every row with a larger norm is rescaled to norm 1, in place. The rows must be added unchanged.
    """
    return F.embedding(at, table.weight, max_norm=1.0)


@mistake(replaces="add", dimension="numerics")
def scaled_up(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the input by √d_model.

    That factor belongs to the embedding layer that comes before this module. Here the encodings are added to x itself.
    """
    return x * math.sqrt(x.shape[-1]) + encodings


@mistake(replaces="add", dimension="numerics")
def multiplied_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the embeddings by the encodings.

    The initial encodings are close to zero, so hardly anything is left of the embeddings. Add the encodings instead.
    """
    return x * encodings


@mistake(replaces="add", dimension="numerics")
def encodings_without_the_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You return only the encodings.

    Your output does not depend on the tokens. Add the encodings to x.
    """
    return encodings.expand_as(x).to(x.dtype)


@mistake(replaces="add", dimension="numerics")
def input_without_encodings(x: Tensor, encodings: Tensor) -> Tensor:
    """You return the input unchanged.

    The table has no influence on your output. If you do compute the sum, check that you keep and return it.
    """
    return x


@mistake(replaces="add", dimension="numerics")
def subtracted(x: Tensor, encodings: Tensor) -> Tensor:
    """You subtract the encodings.

    The exercise adds them. A new table could still be trained, but a pretrained one would not work.
    """
    return x - encodings


@mistake(replaces="add", dimension="numerics")
def normalised(x: Tensor, encodings: Tensor) -> Tensor:
    """You apply a LayerNorm to the sum.

    BERT does that, but it is not part of this module: dropout is applied directly to the sum.
    """
    return F.layer_norm(x + encodings, x.shape[-1:])


@mistake(replaces="add", dimension="shapes")
def concatenated_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You concatenate the embeddings and the encodings.

    Your output is twice as wide as the input. The encodings are as wide as the embeddings because the two are added.
    """
    return torch.cat((x, encodings.expand_as(x)), dim=-1)


@mistake(replaces="add", dimension="shapes")
def encodings_added_for_one(x: Tensor, encodings: Tensor) -> Tensor:
    """You return only the first sequence of the batch.

    The encodings are added to every sequence of the batch. Look for an index 0.
    """
    return x[:1] + encodings


@mistake(replaces="add", dimension="gradients")
def detached_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You detach the input from the graph.

    No output shows it, but no gradient reaches x, so the embeddings before this module could not be trained. Look for
    `.detach()`, `.data`, `torch.no_grad()` or a new tensor made from x.
    """
    return x.detach() + encodings


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_the_encodings_alone(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the encodings only.

    The token embeddings are never dropped. Apply dropout to the sum.
    """
    encodings = self.position_embeddings.weight[: x.shape[1]]
    return x + self.dropout(encodings.expand_as(x))


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_before_adding(self: Any, x: Tensor) -> Tensor:
    """You apply dropout to the embeddings only.

    You add the encodings after the dropout, so they are never dropped. Apply dropout to the sum.
    """
    return self.dropout(x) + self.position_embeddings.weight[: x.shape[1]]


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_twice(self: Any, x: Tensor) -> Tensor:
    """You apply dropout twice, before and after the addition.

    Apply it once, to the sum. Look for a second call.
    """
    return self.dropout(self.dropout(x) + self.position_embeddings.weight[: x.shape[1]])


@mistake(replaces="add", dimension="numerics")
def encodings_made_small(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the encodings by 0.02.

    0.02 is the standard deviation of the initial table. Set it once, in the constructor, and add the rows unchanged.
    """
    return x + 0.02 * encodings


@mistake(replaces="add", dimension="numerics")
def encodings_added_twice(x: Tensor, encodings: Tensor) -> Tensor:
    """You add the encodings twice.

    Look for a second place that adds them, or for a factor of two.
    """
    return x + 2 * encodings


@mistake(replaces="begin", dimension="numerics")
def begins_ten_times_too_wide(table: nn.Embedding) -> None:
    """Your table is initialised with standard deviation 0.2 instead of 0.02.

    That is ten times too large. Check the decimal places.
    """
    nn.init.normal_(table.weight, mean=0.0, std=0.2)
