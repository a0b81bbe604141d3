# verdict: loses numerics
import torch

def alibi_bias(num_heads, seq_len):
    m = 2.0 ** (-8.0 / num_heads * torch.arange(num_heads))
    t = torch.arange(seq_len)
    d = t[:, None] - t[None, :]
    return (-m[:, None, None] * d).masked_fill(d < 0, float("-inf"))
