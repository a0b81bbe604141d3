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


@mistake(replaces="begin", dimension="numerics")
def begins_with_one(table: nn.Embedding) -> None:
    """Your table begins with standard deviation 1.

    That is how every `nn.Embedding` begins, and it would drown the words: 0.02 is asked for. If you do call `normal_`,
    its second argument is the mean, and the deviation comes after it.
    """


@mistake(replaces="begin", dimension="numerics")
def variance_for_deviation(table: nn.Embedding) -> None:
    """Your table begins with *variance* 0.02.

    Your standard deviation is the root of 0.02, about 0.14. The contract asks for a standard deviation of 0.02.
    """
    nn.init.normal_(table.weight, std=math.sqrt(0.02))


@mistake(replaces="begin", dimension="numerics")
def spread_between_the_deviations(table: nn.Embedding) -> None:
    """Your table begins uniformly between -0.02 and 0.02.

    Numbers spread evenly up to a bound deviate by less than the bound, by 0.012 here. The contract asks for a standard
    deviation of 0.02.
    """
    nn.init.uniform_(table.weight, -0.02, 0.02)


@mistake(replaces="begin", dimension="numerics")
def begins_above_zero(table: nn.Embedding) -> None:
    """Your table begins with numbers above zero only.

    `torch.rand` draws between 0 and 1, and times 0.02 that is never negative. The numbers must lie around 0, with a
    standard deviation of 0.02.
    """
    nn.init.uniform_(table.weight, 0.0, 0.02)


@mistake(replaces="begin", dimension="numerics")
def begins_with_zeros(table: nn.Embedding) -> None:
    """Your table begins with zeros.

    The contract asks for numbers around 0, with a standard deviation of 0.02.
    """
    nn.init.zeros_(table.weight)


@mistake(replaces="begin", dimension="numerics")
def begins_with_one_number(table: nn.Embedding) -> None:
    """Your table begins with the same number everywhere, 0.02.

    That is neither around 0 nor does it deviate from anything. Draw the numbers at random.
    """
    nn.init.constant_(table.weight, 0.02)


@mistake(replaces="begin", dimension="numerics")
def begins_like_a_layer(table: nn.Embedding) -> None:
    """Your table begins as a linear layer does, by its width.

    Xavier and its relatives make the numbers depend on how many rows and columns there are. Here the standard deviation
    is 0.02, whatever the size.
    """
    nn.init.xavier_uniform_(table.weight)


@mistake(replaces="positions", dimension="numerics")
def positions_from_one(x: Tensor, max_len: int) -> Tensor:
    """Your positions begin at 1.

    The first token stands at position 0. All of yours are one row too far down, and the last position of a long
    sequence has no row left.
    """
    return torch.arange(1, x.shape[1] + 1)


@mistake(replaces="positions", dimension="numerics")
def counted_along_the_batch(x: Tensor, max_len: int) -> Tensor:
    """You count sequences, not tokens.

    All tokens of your first sequence get the encoding of position 0, all of the second that of position 1. Your input
    is (batch, time, d_model): look at the size that you count up to.
    """
    return torch.arange(x.shape[0])[:, None]


@mistake(replaces="positions", dimension="numerics")
def counted_from_the_end(x: Tensor, max_len: int) -> Tensor:
    """You use the last rows of the table.

    A sequence of T tokens uses the first T rows, however many there are. Look at the slice: is it `[:T]` or `[-T:]`?
    """
    return torch.arange(max_len - x.shape[1], max_len)


@mistake(replaces="positions", dimension="numerics")
def counted_backwards(x: Tensor, max_len: int) -> Tensor:
    """Your positions run backwards.

    The last token of yours stands at position 0. It is the first one that does.
    """
    return torch.arange(x.shape[1]).flip(0)


@mistake(replaces="positions", dimension="numerics")
def stretched_over_the_table(x: Tensor, max_len: int) -> Tensor:
    """You spread the tokens over the whole table.

    Then the encoding of a position depends on how long the sequence is. Token t has row t.
    """
    return torch.arange(x.shape[1]) * max_len // x.shape[1]


@mistake(replaces="positions", dimension="numerics")
def same_position_for_all(x: Tensor, max_len: int) -> Tensor:
    """All your tokens get the same row, the last of the sequence.

    T tokens need T rows, from 0 to T - 1: `arange(T)`, where you have one number.
    """
    return torch.full((x.shape[1],), x.shape[1] - 1)


@mistake(replaces="positions", dimension="numerics")
def first_row_for_all(x: Tensor, max_len: int) -> Tensor:
    """All your tokens get row 0.

    Zeros are looked up where the positions 0, 1, 2, … belong.
    """
    return torch.zeros(x.shape[1], dtype=torch.long)


@mistake(replaces="look_up", dimension="gradients")
def table_cut_off(table: nn.Embedding, at: Tensor) -> Tensor:
    """No gradient reaches your table.

    The output is right, but the positions are never learned. Look for `detach()`, `.data`, `no_grad`, a table that is
    frozen, or a new tensor made from it.
    """
    return table(at).detach()


@mistake(replaces="look_up", dimension="gradients")
def first_position_never_learns(table: nn.Embedding, at: Tensor) -> Tensor:
    """Row 0 of your table never learns.

    `padding_idx=0` tells the table that row 0 stands for nothing, and its gradient is thrown away. Here it is the first
    position.
    """
    return F.embedding(at, table.weight, padding_idx=0)


@mistake(replaces="look_up", dimension="numerics")
def cut_to_length_one(table: nn.Embedding, at: Tensor) -> Tensor:
    """Your table shortens its rows.

    With `max_norm=1` every row that is longer is cut to length 1, and stays so. The rows are added as they are.
    """
    return F.embedding(at, table.weight, max_norm=1.0)


@mistake(replaces="add", dimension="numerics")
def scaled_up(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the input by √d_model.

    That factor belongs to the embedding layer in front of this module, and is not part of the contract here: x itself
    is added to the encodings.
    """
    return x * math.sqrt(x.shape[-1]) + encodings


@mistake(replaces="add", dimension="numerics")
def multiplied_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the embeddings by the encodings.

    With encodings that begin near zero, hardly anything is left of the words. The encodings are added.
    """
    return x * encodings


@mistake(replaces="add", dimension="numerics")
def encodings_without_the_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You return the encodings alone.

    Your output does not depend on the tokens. The encodings are to be added to x.
    """
    return encodings.expand_as(x).to(x.dtype)


@mistake(replaces="add", dimension="numerics")
def input_without_encodings(x: Tensor, encodings: Tensor) -> Tensor:
    """You return the input as it is.

    Nothing of the table is in your output. A sum that is written down but not kept changes nothing.
    """
    return x


@mistake(replaces="add", dimension="numerics")
def subtracted(x: Tensor, encodings: Tensor) -> Tensor:
    """You subtract the encodings.

    The contract adds them. Training would find its way, but a table that was trained elsewhere would be the wrong one.
    """
    return x - encodings


@mistake(replaces="add", dimension="numerics")
def normalised(x: Tensor, encodings: Tensor) -> Tensor:
    """You normalise the sum.

    BERT has a LayerNorm there. It is no part of this module: the sum goes straight into the dropout.
    """
    return F.layer_norm(x + encodings, x.shape[-1:])


@mistake(replaces="add", dimension="shapes")
def concatenated_not_added(x: Tensor, encodings: Tensor) -> Tensor:
    """You put the encodings beside the embeddings.

    Your output is twice as wide as the input. The encodings have the embeddings' width because they are added.
    """
    return torch.cat((x, encodings.expand_as(x)), dim=-1)


@mistake(replaces="add", dimension="shapes")
def encodings_added_for_one(x: Tensor, encodings: Tensor) -> Tensor:
    """You return the first sequence of the batch alone.

    Every sequence of the batch gets the encodings, and comes out again. Look for an index 0.
    """
    return x[:1] + encodings


@mistake(replaces="add", dimension="gradients")
def detached_input(x: Tensor, encodings: Tensor) -> Tensor:
    """You cut the input off from the graph.

    The output is right, but no gradient reaches x, so the embeddings behind it could never be trained. Search for
    `.detach()`, `.data`, `torch.no_grad()` or a new tensor made from x.
    """
    return x.detach() + encodings


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_the_encodings_alone(self: Any, x: Tensor) -> Tensor:
    """Your dropout falls on the encodings alone.

    The tokens themselves pass whole, and some of them lose their position. It is the sum that goes through the
    dropout.
    """
    encodings = self.position_embeddings.weight[: x.shape[1]]
    return x + self.dropout(encodings.expand_as(x))


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_before_adding(self: Any, x: Tensor) -> Tensor:
    """Your dropout falls on the embeddings alone.

    You drop first and add the encodings afterwards, so no encoding is ever dropped. It is the sum that goes through
    the dropout.
    """
    return self.dropout(x) + self.position_embeddings.weight[: x.shape[1]]


@mistake(replaces="LearnedPositionalEncoding.forward", dimension="numerics")
def drops_twice(self: Any, x: Tensor) -> Tensor:
    """You drop twice, before the sum and after it.

    Once is asked for: the sum goes through the dropout. Look for a second call.
    """
    return self.dropout(self.dropout(x) + self.position_embeddings.weight[: x.shape[1]])


@mistake(replaces="add", dimension="numerics")
def encodings_made_small(x: Tensor, encodings: Tensor) -> Tensor:
    """You multiply the encodings by 0.02.

    That number is the standard deviation with which the table begins. Set it once, in the constructor; what is added is
    the table as it is.
    """
    return x + 0.02 * encodings


@mistake(replaces="add", dimension="numerics")
def encodings_added_twice(x: Tensor, encodings: Tensor) -> Tensor:
    """You add the encodings twice.

    Look for a second place that adds them, or a factor of two.
    """
    return x + 2 * encodings


@mistake(replaces="begin", dimension="numerics")
def begins_ten_times_too_wide(table: nn.Embedding) -> None:
    """Your table begins with a standard deviation of 0.2, ten times what is asked for.

    0.02 is asked for. Count the digits.
    """
    nn.init.normal_(table.weight, mean=0.0, std=0.2)
