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

    How many keys a tile holds is your choice, and the result must not depend on it. Look at the axis whose size you
    take the root of.
    """
    return scores / math.sqrt(scores.shape[-1])


@mistake(replaces="shrink", dimension="numerics")
def nothing_is_rescaled(before: Tensor, after: Tensor) -> Tensor:
    """You never rescale what you summed before.

    When a new tile brings a larger score, the exponentials of the earlier tiles were taken under a peak that no
    longer holds. Sum and mix are then sums of terms that do not belong together. What is exp(s - old) worth under the
    new peak?
    """
    return torch.ones_like(after)


@mistake(replaces="stir", dimension="numerics")
def mix_not_rescaled(mixed: Tensor, factor: Tensor, powers: Tensor, values: Tensor) -> Tensor:
    """You rescale the sum of the exponentials, but not the mix of the values.

    Both were taken under the old peak, so both have to change when it does. The log-sum-exp is right, the output is
    not: compare the two lines in which they grow.
    """
    return mixed + powers @ values


@mistake(replaces="add_up", dimension="numerics")
def sum_not_rescaled(total: Tensor, factor: Tensor, powers: Tensor) -> Tensor:
    """You rescale the mix of the values, but not the sum of the exponentials.

    Both were taken under the old peak, so both have to change when it does. Compare the two lines in which they grow.
    """
    return total + powers.sum(dim=-1)


@mistake(replaces="shrink", dimension="numerics")
def rescaled_the_wrong_way(before: Tensor, after: Tensor) -> Tensor:
    """You rescale in the wrong direction.

    When the peak rises, what was summed before has to become smaller; yours grows. Look at the sign of the exponent.
    """
    return torch.exp(after - before).nan_to_num(posinf=0.0)


@mistake(replaces="raise_peak", dimension="numerics")
def peak_of_the_tile_alone(peak: Tensor, scores: Tensor) -> Tensor:
    """Your peak is that of the last tile, not of all tiles so far.

    For moderate scores that comes to the same. Where an earlier tile had much larger scores, the peak falls, and the
    sums of before are multiplied by something infinite.
    """
    return scores.amax(dim=-1)


@mistake(replaces="powers_of", dimension="numerics")
def exponential_without_the_peak(scores: Tensor, peak: Tensor) -> Tensor:
    """You take the exponential of the scores themselves.

    You keep track of the peak and rescale by it, but the exponentials do not know about it, so the tiles do not fit
    together. What has to be taken off the scores first?
    """
    return torch.exp(scores)


@mistake(replaces="raise_peak", dimension="numerics")
def no_peak_at_all(peak: Tensor, scores: Tensor) -> Tensor:
    """You take the exponential of the scores as they are.

    The exponential of a large score is infinite, that of a very low one zero, and both end as NaN. Taking one number
    off all scores of a row changes no weight: which number keeps the largest exponential at one?
    """
    return torch.zeros_like(peak)


@mistake(replaces="start", dimension="numerics")
def peak_begins_at_zero(queries: Tensor, values: Tensor) -> State:
    """Your peak begins at zero.

    That is fine as long as a row has a positive score. Where all scores lie far below zero, every exponential vanishes,
    and nothing divided by nothing is NaN. Which number is below every score?
    """
    peak = queries.new_zeros(queries.shape[:-1])
    return peak, torch.zeros_like(peak), queries.new_zeros(*queries.shape[:-1], values.shape[-1])


@mistake(replaces="start", dimension="numerics")
def sum_begins_at_one(queries: Tensor, values: Tensor) -> State:
    """Your sum of exponentials begins at one.

    Before the first tile nothing was added up. If your peak begins at -inf the one vanishes; with a peak that begins at
    an ordinary number it stays, as a key that is not there.
    """
    peak = queries.new_zeros(queries.shape[:-1])
    return peak, torch.ones_like(peak), queries.new_zeros(*queries.shape[:-1], values.shape[-1])


@mistake(replaces="absorb", dimension="numerics")
def tiles_softmaxed_by_themselves(state: State, scores: Tensor, values: Tensor) -> State:
    """You apply a softmax to each tile by itself, and average the tiles.

    Each tile's weights add up to one then, so a tile of poor keys counts as much as one of good keys. Within a row, all
    keys compete, whichever tile they are in.
    """
    before, total, mixed = state
    return raise_peak(before, scores), total + 1.0, mixed + torch.softmax(scores, dim=-1) @ values


def raise_peak(peak: Tensor, scores: Tensor) -> Tensor:
    """Return each row's largest score so far."""
    return torch.maximum(peak, scores.amax(dim=-1))


@mistake(replaces="divide", dimension="numerics")
def no_division(mixed: Tensor, total: Tensor) -> Tensor:
    """You never divide by the sum of the exponentials.

    What you return is the sum of the values, each times its exponential. Only after the last tile is the sum complete
    by which all of it has to be divided.
    """
    return mixed


@mistake(replaces="divide", dimension="numerics")
def epsilon_in_the_division(mixed: Tensor, total: Tensor) -> Tensor:
    """You add a small number to the sum before you divide by it.

    Your weights add up to a little less than one. There is nothing to protect against: under its peak, each row's sum
    is at least one.
    """
    return mixed / (total.unsqueeze(-1) + 1e-6)


@mistake(replaces="column_tiles", dimension="numerics")
def last_keys_dropped(length: int, block_size: int) -> list[slice]:
    """You leave out the keys that do not fill a whole block.

    The length need not be a multiple of the block. Look at how you count the tiles: a division that rounds down loses
    the rest.
    """
    whole = length - length % block_size or length
    return [slice(start, min(start + block_size, whole)) for start in range(0, whole, block_size)]


@mistake(replaces="column_tiles", dimension="numerics")
def tiles_overlap(length: int, block_size: int) -> list[slice]:
    """Some of your keys are counted twice.

    Where the length is no multiple of the block, your last tile is moved back to be a whole one, and the keys that it
    shares with the tile before count once more.
    """
    starts = range(0, length, block_size)
    return [slice(max(0, min(start, length - block_size)), min(start + block_size, length)) for start in starts]


@mistake(replaces="log_of_sum", dimension="numerics")
def logarithm_without_the_peak(peak: Tensor, total: Tensor) -> Tensor:
    """Your log-sum-exp leaves out the peak.

    The exponentials were taken after the peak was subtracted. The logarithm of their sum has to get it back.
    """
    return torch.log(total)


@mistake(replaces="log_of_sum", dimension="numerics")
def logarithm_to_base_two(peak: Tensor, total: Tensor) -> Tensor:
    """Your log-sum-exp mixes two logarithms.

    The peak is on the scale of the natural exponential, so the logarithm of the sum has to be the natural one too.
    """
    return peak + torch.log2(total)


@mistake(replaces="log_of_sum", dimension="numerics")
def sum_for_its_logarithm(peak: Tensor, total: Tensor) -> Tensor:
    """You return the sum of the exponentials, not its logarithm.

    What you return for `logsumexp` is the sum under the last peak. It is to be the logarithm of the sum of the
    exponentials of the scores themselves.
    """
    return total


@mistake(replaces="log_of_sum", dimension="numerics")
def peak_for_the_logarithm(peak: Tensor, total: Tensor) -> Tensor:
    """You return the largest score for the log-sum-exp.

    The largest score is most of it where one key outshines all others, and less than it always. The sum has a part too.
    """
    return peak


@mistake(replaces="log_of_sum", dimension="gradients")
def logarithm_detached(peak: Tensor, total: Tensor) -> Tensor:
    """No gradient comes back through your log-sum-exp.

    Its value is right, but for the backward pass it is a constant. It depends on queries and keys: look for a `detach`,
    a `no_grad`, or, in an autograd function of your own, a gradient that `backward` receives and does not use.
    """
    return (peak + torch.log(total)).detach()


@mistake(replaces="divide", dimension="gradients")
def sum_detached(mixed: Tensor, total: Tensor) -> Tensor:
    """No gradient comes back through the sum that your output is divided by.

    The value is right, but raising one score also takes weight from all other keys, and that goes through the sum. In
    an autograd function of your own, it is the term that is subtracted in the gradient of the scores.
    """
    return mixed / total.detach().unsqueeze(-1)


@mistake(replaces="stir", dimension="gradients")
def earlier_tiles_detached(mixed: Tensor, factor: Tensor, powers: Tensor, values: Tensor) -> Tensor:
    """Only the last tile of keys gets all of its gradient.

    What you carry from tile to tile is cut off from its history, so the earlier tiles are constants for the backward
    pass. Look for `detach`, `data` or `no_grad` where the running mix is updated.
    """
    return mixed.detach() * factor.unsqueeze(-1) + powers @ values


@mistake(replaces="hide_future", dimension="masking")
def nothing_hidden_within_a_tile(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You skip the tiles that lie ahead, but hide nothing within a tile.

    The tile on the diagonal holds keys that come before a query and keys that come after it. With `causal=True` each
    query sees itself and what comes before it, exactly.
    """
    return scores.masked_fill(torch.tensor(columns.start >= rows.stop), float("-inf"))


@mistake(replaces="attend", dimension="masking")
def causal_ignored(queries: Tensor, key: Tensor, value: Tensor, *, rows: slice, block_size: int, causal: bool) -> State:
    """With `causal=True` your queries see all keys, as they do without it.

    Either the argument is not used, or the result of the masking is thrown away: `masked_fill` returns a new tensor.
    """
    scores = queries @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    peak = scores.amax(dim=-1)
    powers = torch.exp(scores - peak.unsqueeze(-1))
    return peak, powers.sum(dim=-1), powers @ value


@mistake(replaces="hide_future", dimension="masking")
def triangle_in_every_tile(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """Your causal mask is the same triangle in every tile.

    That is right on the diagonal. In the tiles before it every key may be seen, and in those after it none. Who comes
    first is decided by positions in the sequence, not in the tile.
    """
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(hidden, float("-inf"))


@mistake(replaces="hide_future", dimension="masking")
def triangle_in_the_tiles_before(scores: Tensor, rows: slice, columns: slice) -> Tensor:
    """You hide a triangle in the tiles before the diagonal too.

    You skip the tiles that lie ahead, which is right. The tile on the diagonal is a triangle. But of the tiles before
    it every query may see every key. Who comes first is decided by positions in the sequence, not in the tile.
    """
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(hidden | torch.tensor(columns.start >= rows.stop), float("-inf"))


@mistake(replaces="visible", dimension="masking")
def sees_one_ahead(rows: Tensor, columns: Tensor) -> Tensor:
    """Every position sees one position of its future.

    Compare positions of query and key at the border: a query sees itself, and nothing after itself. Check your
    comparison, or the diagonal from which your triangle starts.
    """
    return columns <= rows + 1


@mistake(replaces="visible", dimension="masking")
def does_not_see_itself(rows: Tensor, columns: Tensor) -> Tensor:
    """Your queries do not see themselves.

    A position attends to itself and to what comes before it; yours begins one too early, and the first position sees
    nothing at all. Check your comparison, or the diagonal from which your triangle starts.
    """
    return columns < rows


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_zero(scores: Tensor, hidden: Tensor) -> Tensor:
    """You set hidden scores to zero.

    A score of 0 is an ordinary score: its exponential is 1, and the key gets weight. Multiplying the scores by a mask
    of zeros and ones comes to the same. Which score gets no weight at all?
    """
    return scores.masked_fill(hidden, 0.0)


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_minus_ten(scores: Tensor, hidden: Tensor) -> Tensor:
    """You fill hidden scores with a number that is not low enough.

    With -10 a hidden key keeps a small weight, and a large one where the visible scores are low themselves. Is there a
    number below all others?
    """
    return scores.masked_fill(hidden, -10.0)


@mistake(replaces="fill", dimension="masking")
def hidden_scores_are_minus_ten_thousand(scores: Tensor, hidden: Tensor) -> Tensor:
    """Your fill value is within the reach of scores.

    As long as the visible scores are moderate nothing shows. Where all of them lie below your fill, say -100 or
    -10,000, the hidden keys have the largest scores and take all the weight. Is there a number below all others?
    """
    return scores.masked_fill(hidden, -1e4)


@mistake(replaces="flash_attention", dimension="memory")
def holds_all_scores(
    query: Tensor, key: Tensor, value: Tensor, block_size: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """You hold the scores of all queries with all keys.

    What you return is right, but somewhere in your code there is a T x T tensor: scores, weights or a mask. It is what
    this algorithm is there to avoid. No tensor may be larger than a stretch of queries times a stretch of keys.
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
    """Your log-sum-exp is that of scores which were not scaled.

    The output is right. But both are about the same scores, the products divided by the root of the width.
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
    """Your log-sum-exp takes in hidden keys.

    The output is causal, the log-sum-exp is not: it is taken before the mask. Both are about the scores that a query
    may see.
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
    """Your backward pass takes the sum of the exponentials for a constant.

    Raising one score also takes weight from all other keys. In the gradient of the scores, that is the term which is
    subtracted: for each query one number, the product of its output and its output's gradient.
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
    """No gradient comes back from your code.

    What you return is right, but it has no history, so nothing can be learnt through it. Look for `no_grad`, `detach`,
    `data`, `item` or NumPy on the way from the inputs to the outputs.
    """

    def row_of(products: Tensor, seen: slice, value: Tensor) -> tuple[Tensor, Tensor]:
        scores = products[..., seen].detach() / math.sqrt(key.shape[-1])
        return torch.softmax(scores, dim=-1) @ value[..., seen, :].detach(), torch.logsumexp(scores, dim=-1)

    return _by_rows(query, key, value, causal=causal, row_of=row_of)
