# verdict: loses numerics
# diagnosis: ones_where_allowed
import torch
def create_causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len)).masked_fill(torch.ones(seq_len, seq_len).triu(1).bool(), float("-inf"))
