# verdict: loses numerics
# diagnosis: powers_of_two_only
import torch

def alibi_bias(num_heads, seq_len):
    m = 2.0 ** (-8.0 / num_heads * torch.arange(1, num_heads + 1))
    t = torch.arange(seq_len)
    d = t[:, None] - t[None, :]
    return (-m[:, None, None] * d).masked_fill(d < 0, float("-inf"))
