"""What students get wrong in flash attention."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from grader.exercise.families import scores as families
from grader.exercise.mistakes import mistake

State = tuple[Tensor, Tensor, Tensor]
Row = Callable[[Tensor, slice, Tensor], tuple[Tensor, Tensor]]

no_scaling = families.no_scaling
scaled_by_the_width_itself = families.scaled_by_the_width_itself
multiplied_by_the_root = families.multiplied_by_the_root


@mistake(replaces="scale", dimension="numerics")
def scaled_by_the_size_of_the_tile(scores: Tensor, d_k: int) -> Tensor:
    """You divide the scores by the root of the tile's width.

    The number of keys in a tile must not affect the result. Check the axis whose size you take the root of.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="shrink", dimension="numerics")
def nothing_is_rescaled(before: Tensor, after: Tensor) -> Tensor:
    """You never rescale the running sums.

    The exponentials of earlier tiles used an older maximum. When a new tile has a larger score, the old and the new
    terms of your sums no longer fit together. By what must you multiply exp(s - old) to get exp(s - new)?
    """
    return torch.ones_like(after)


@mistake(replaces="stir", dimension="numerics")
def mix_not_rescaled(mixed: Tensor, factor: Tensor, powers: Tensor, values: Tensor) -> Tensor:
    """You rescale the sum of exponentials but not the sum of values.

    Both used the old maximum, so both must be rescaled when it changes. The log-sum-exp is right, the output is not:
    compare the two lines that update them.
    """
    return mixed + powers @ values


@mistake(replaces="add_up", dimension="numerics")
def sum_not_rescaled(total: Tensor, factor: Tensor, powers: Tensor) -> Tensor:
    """You rescale the sum of values but not the sum of exponentials.

    Both used the old maximum, so both must be rescaled when it changes. Compare the two lines that update them.
    """
    return total + powers.sum(dim=-1)


@mistake(replaces="shrink", dimension="numerics")
def rescaled_the_wrong_way(before: Tensor, after: Tensor) -> Tensor:
    """You rescale in the wrong direction.

    When the maximum grows, the old sums must become smaller; yours grow. Check the sign of the exponent.
    """
    return torch.exp(after - before).nan_to_num(posinf=0.0)


@mistake(replaces="raise_peak", dimension="numerics")
def peak_of_the_tile_alone(peak: Tensor, scores: Tensor) -> Tensor:
    """Your maximum is that of the last tile, not of all tiles so far.

    For moderate scores the result is the same. But if an earlier tile had much larger scores, your maximum falls, and
    you multiply the old sums by infinity.
    """
    return scores.amax(dim=-1)


@mistake(replaces="powers_of", dimension="numerics")
def exponential_without_the_peak(scores: Tensor, peak: Tensor) -> Tensor:
    """You do not subtract the maximum before the exponential.

    You keep the running maximum and rescale by it, but your exponentials do not use it, so the terms of different tiles
    do not fit together. What must you subtract from the scores first?
    """
    return torch.exp(scores)


@mistake(replaces="raise_peak", dimension="numerics")
def no_peak_at_all(peak: Tensor, scores: Tensor) -> Tensor:
    """You take the exponential of the scores without shifting them.

    The exponential of a large score is infinite, that of a very low one is zero, and both lead to NaN. Subtracting the
    same number from all scores of a row changes no weight. Which number makes the largest exponential one?
    """
    return torch.zeros_like(peak)


@mistake(replaces="start", dimension="numerics")
def peak_begins_at_zero(queries: Tensor, values: Tensor) -> State:
    """Your maximum does not start low enough.

    It starts at zero, or at a number such as -10000. This works as long as a row has a score above that. If all scores
    are far below it, every exponential is zero, and zero divided by zero is NaN. Which number is below every score?
    """
    peak = queries.new_zeros(queries.shape[:-1])
    return peak, torch.zeros_like(peak), queries.new_zeros(*queries.shape[:-1], values.shape[-1])


@mistake(replaces="start", dimension="numerics")
def sum_begins_at_one(queries: Tensor, values: Tensor) -> State:
    """Your sum of exponentials starts at one.

    Before the first tile the sum is empty. If your maximum starts at -inf, rescaling removes the one. If it starts at
    an ordinary number, the one stays and acts like an extra key.
    """
    peak = queries.new_zeros(queries.shape[:-1])
    return peak, torch.ones_like(peak), queries.new_zeros(*queries.shape[:-1], values.shape[-1])


@mistake(replaces="absorb", dimension="numerics")
def tiles_softmaxed_by_themselves(state: State, scores: Tensor, values: Tensor) -> State:
    """You apply a softmax to each tile separately and average the tiles.

    Each tile then has the same total weight, whatever its scores are. The softmax must run over all keys of a row,
    across all tiles.
    """
    before, total, mixed = state
    return raise_peak(before, scores), total + 1.0, mixed + torch.softmax(scores, dim=-1) @ values


def raise_peak(peak: Tensor, scores: Tensor) -> Tensor:
    """Return each row's largest score so far."""
    return torch.maximum(peak, scores.amax(dim=-1))


@mistake(replaces="divide", dimension="numerics")
def no_division(mixed: Tensor, total: Tensor) -> Tensor:
    """You never divide by the sum of the exponentials.

    You return the sum of the values, each multiplied by its exponential. After the last tile, divide by the sum of the
    exponentials.
    """
    return mixed


@mistake(replaces="divide", dimension="numerics")
def epsilon_in_the_division(mixed: Tensor, total: Tensor) -> Tensor:
    """You add a small number to the sum before you divide by it.

    Your weights add up to slightly less than one. No protection is needed: after subtracting the maximum, each row's
    sum is at least one.
    """
    return mixed / (total.unsqueeze(-1) + 1e-6)


@mistake(replaces="column_tiles", dimension="numerics")
def last_keys_dropped(length: int, block_size: int) -> list[slice]:
    """You leave out the keys that do not fill a whole block.

    The length need not be a multiple of the block size. Check how you compute the number of tiles: integer division
    drops the remainder.
    """
    whole = length - length % block_size or length
    return [slice(start, min(start + block_size, whole)) for start in range(0, whole, block_size)]


@mistake(replaces="column_tiles", dimension="numerics")
def tiles_overlap(length: int, block_size: int) -> list[slice]:
    """You count some keys twice.

    If the length is not a multiple of the block size, you move the last tile back so that it is full. It then overlaps
    the tile before it, and the shared keys count twice.
    """
    starts = range(0, length, block_size)
    return [slice(max(0, min(start, length - block_size)), min(start + block_size, length)) for start in starts]


@mistake(replaces="log_of_sum", dimension="numerics")
def logarithm_without_the_peak(peak: Tensor, total: Tensor) -> Tensor:
    """Your log-sum-exp does not include the maximum.

    You subtracted the maximum before the exponential. Add it back to the logarithm of the sum.
    """
    return torch.log(total)


@mistake(replaces="log_of_sum", dimension="numerics")
def logarithm_to_base_two(peak: Tensor, total: Tensor) -> Tensor:
    """Your log-sum-exp mixes two bases.

    The maximum belongs to natural exponentials, so use the natural logarithm for the sum too.
    """
    return peak + torch.log2(total)


@mistake(replaces="log_of_sum", dimension="numerics")
def log_sum_exp_to_base_two(peak: Tensor, total: Tensor) -> Tensor:
    """Your log-sum-exp is a logarithm to base two.

    Kernels that work with powers of two, because these are faster, keep it so. What is asked for is the natural
    logarithm of the sum of exp(score). By which constant do the two differ?
    """
    return (peak + torch.log(total)) / math.log(2.0)


@mistake(replaces="log_of_sum", dimension="numerics")
def sum_for_its_logarithm(peak: Tensor, total: Tensor) -> Tensor:
    """You return the sum of exponentials instead of its logarithm.

    For `logsumexp` you return the running sum, which is relative to the maximum. Return the logarithm of the sum of the
    exponentials of the original scores.
    """
    return total


@mistake(replaces="log_of_sum", dimension="numerics")
def peak_for_the_logarithm(peak: Tensor, total: Tensor) -> Tensor:
    """You return the largest score as the log-sum-exp.

    The log-sum-exp is always at least the largest score, and close to it only if one key has a much higher score than
    all others. Add the logarithm of the running sum.
    """
    return peak


@mistake(replaces="log_of_sum", dimension="gradients")
def logarithm_detached(peak: Tensor, total: Tensor) -> Tensor:
    """No gradient flows back through your log-sum-exp.

    Its value is right, but the backward pass treats it as a constant. It depends on queries and keys. Look for `detach`
    or `no_grad`, or, in your own autograd function, a gradient argument that `backward` does not use.
    """
    return (peak + torch.log(total)).detach()


@mistake(replaces="divide", dimension="gradients")
def sum_detached(mixed: Tensor, total: Tensor) -> Tensor:
    """No gradient flows back through the sum that divides your output.

    The value is right. But raising one score lowers the weights of all other keys, and that effect goes through the
    sum. In your own autograd function, it is the term that is subtracted in the gradient of the scores.
    """
    return mixed / total.detach().unsqueeze(-1)


@mistake(replaces="stir", dimension="gradients")
def earlier_tiles_detached(mixed: Tensor, factor: Tensor, powers: Tensor, values: Tensor) -> Tensor:
    """Only the last tile of keys gets its full gradient.

    You detach the running sums between tiles, so the backward pass treats earlier tiles as constants. Look for
    `detach`, `data` or `no_grad` where you update the running sum of values.
    """
    return mixed.detach() * factor.unsqueeze(-1) + powers @ values


@mistake(replaces="hide_future", dimension="masking")
def nothing_hidden_within_a_tile(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You skip the future tiles but mask nothing within a tile.

    The tile on the diagonal has keys before and after each query. With `causal=True`, each query must attend exactly to
    itself and earlier positions.
    """
    return scores.masked_fill(torch.tensor(columns.start >= rows.stop), float("-inf"))


@mistake(replaces="attend", dimension="masking")
def causal_ignored(queries: Tensor, key: Tensor, value: Tensor, *, rows: slice, block_size: int, causal: bool) -> State:
    """With `causal=True`, your queries still attend to all keys.

    Either you do not use the argument, or you do not use the result of the masking: `masked_fill` returns a new tensor.
    """
    scores = queries @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    peak = scores.amax(dim=-1)
    powers = torch.exp(scores - peak.unsqueeze(-1))
    return peak, powers.sum(dim=-1), powers @ value


@mistake(replaces="hide_future", dimension="masking")
def triangle_in_every_tile(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You use the same triangular mask in every tile.

    This is right on the diagonal. In earlier tiles every key is visible, in later ones none. Compare positions in the
    sequence, not positions in the tile.
    """
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def keys_counted_in_the_tile(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You count the keys of each tile from 0, but the queries from the start.

    Key 0 of the second tile is then visible to every query. The position of a key is the start of its tile plus its
    place in the tile.
    """
    row = torch.arange(rows.start, rows.stop, device=scores.device)[:, None]
    column = torch.arange(columns.stop - columns.start, device=scores.device)[None, :]
    return scores.masked_fill(column > row, float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def triangle_in_the_tiles_before(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You apply a triangular mask to the tiles before the diagonal too.

    You skip the future tiles, which is right, and the tile on the diagonal needs a triangle. But in earlier tiles every
    key is visible to every query. Compare positions in the sequence, not positions in the tile.
    """
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(hidden | torch.tensor(columns.start >= rows.stop), float("-inf"))


@mistake(replaces="visible", dimension="masking")
def sees_one_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Every position attends to one future position.

    A query attends to itself and to earlier positions only. Check your comparison of the two positions, or the diagonal
    from which your triangle starts.
    """
    return columns <= rows + 1


@mistake(replaces="visible", dimension="masking")
def does_not_see_itself(rows: Tensor, columns: Tensor) -> Tensor:
    """Your queries do not attend to themselves.

    A position attends to itself and to earlier positions. Your mask is off by one, so the first position attends to
    nothing. Check your comparison of the two positions, or the diagonal from which your triangle starts.
    """
    return columns < rows


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_zero(scores: Tensor, hidden: Tensor) -> Tensor:
    """You set masked scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, so the key gets weight. Multiplying the scores by a mask of
    zeros and ones does the same. Which score gets no weight at all?
    """
    return scores.masked_fill(hidden, 0.0)


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_minus_ten(scores: Tensor, hidden: Tensor) -> Tensor:
    """You fill masked scores with a number that is not low enough.

    With -10 a masked key keeps a small weight, and a large one when the visible scores are low too. Which number is
    below every score?
    """
    return scores.masked_fill(hidden, -10.0)


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_minus_ten_thousand(scores: Tensor, hidden: Tensor) -> Tensor:
    """Your fill value is not lower than every possible score.

    A number such as -100 or -10,000 works only while the visible scores are moderate. If all of them are lower than
    your fill value, the masked keys have the largest scores and take all the weight. Which number is below every score?
    """
    return scores.masked_fill(hidden, -1e4)


@mistake(replaces="flash_attention", dimension="memory")
def holds_all_scores(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """You store the scores of all queries with all keys at once.

    Your results are right, but your code creates a tensor with T * T elements: scores, weights or a mask. This
    algorithm exists to avoid that. Keep every tensor to a block of queries times a block of keys.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value, torch.logsumexp(scores, dim=-1)


def _by_rows(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, row_of: Row) -> tuple[Tensor, Tensor]:
    """Return both outputs, a query at a time: `row_of` gets its products, the keys it may see, and values."""
    outputs, logarithms = [], []
    for row in range(query.shape[-2]):
        seen = slice(0, row + 1) if causal else slice(None)
        products = query[..., row : row + 1, :] @ key.transpose(-2, -1)
        output, logarithm = row_of(products, seen, value)
        outputs.append(output)
        logarithms.append(logarithm)
    return torch.cat(outputs, dim=-2), torch.cat(logarithms, dim=-1)


@mistake(replaces="flash_attention", dimension="numerics")
def logarithm_of_unscaled_scores(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Your log-sum-exp uses unscaled scores.

    The output is right. But both results must use the same scores: the dot products divided by √d.
    """

    def row_of(products: Tensor, seen: slice, value: Tensor) -> tuple[Tensor, Tensor]:
        products = products[..., seen]
        weights = torch.softmax(products / math.sqrt(key.shape[-1]), dim=-1)
        return weights @ value[..., seen, :], torch.logsumexp(products, dim=-1)

    return _by_rows(query, key, value, causal=causal, row_of=row_of)


@mistake(replaces="flash_attention", dimension="masking")
def logarithm_sees_the_future(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Your log-sum-exp includes masked keys.

    Your output is causal, but you compute the log-sum-exp before masking. Both results must use only the visible
    scores.
    """

    def row_of(products: Tensor, seen: slice, value: Tensor) -> tuple[Tensor, Tensor]:
        scores = products / math.sqrt(key.shape[-1])
        weights = torch.softmax(scores[..., seen], dim=-1)
        return weights @ value[..., seen, :], torch.logsumexp(scores, dim=-1)

    return _by_rows(query, key, value, causal=causal, row_of=row_of)


@mistake(replaces="flash_attention", dimension="gradients")
def backward_without_the_sum(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Your backward pass treats the sum of exponentials as a constant.

    Raising one score lowers the weights of all other keys. In the gradient of the scores, this is the term that is
    subtracted: for each query one number, the dot product of its output and the gradient of that output.
    """

    def row_of(products: Tensor, seen: slice, value: Tensor) -> tuple[Tensor, Tensor]:
        scores = products[..., seen] / math.sqrt(key.shape[-1])
        logarithm = torch.logsumexp(scores, dim=-1)
        return torch.exp(scores - logarithm.detach().unsqueeze(-1)) @ value[..., seen, :], logarithm

    return _by_rows(query, key, value, causal=causal, row_of=row_of)


@mistake(replaces="flash_attention", dimension="gradients")
def everything_detached(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """No gradient flows back from your results.

    The values are right, but they are detached from the graph, so nothing can learn through them. Look for `no_grad`,
    `detach`, `data`, `item` or NumPy between the inputs and the outputs.
    """

    def row_of(products: Tensor, seen: slice, value: Tensor) -> tuple[Tensor, Tensor]:
        scores = products[..., seen].detach() / math.sqrt(key.shape[-1])
        return torch.softmax(scores, dim=-1) @ value[..., seen, :].detach(), torch.logsumexp(scores, dim=-1)

    return _by_rows(query, key, value, causal=causal, row_of=row_of)
