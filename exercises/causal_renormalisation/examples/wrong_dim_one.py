# verdict: loses numerics
# diagnosis: sums_over_axis_one
# Right for a single table, as in the book.
import torch


def renormalise_causal(weights):
    context_length = weights.shape[-1]
    mask_simple = torch.tril(torch.ones(context_length, context_length))
    masked_simple = weights * mask_simple
    row_sums = masked_simple.sum(dim=1, keepdim=True)
    return masked_simple / row_sums
