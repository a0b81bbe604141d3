# verdict: loses masking
# diagnosis: one_for_may_and_zero_for_may_not
import torch


def create_causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len))
