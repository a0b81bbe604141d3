# verdict: loses numerics
import torch
def _slopes(n):
    p = 1 << (n.bit_length() - 1)
    return ([2.0 ** (-8 * k / p) for k in range(1, p + 1)] + [2.0 ** (-4 * k / p) for k in range(1, 2 * p, 2)])[:n]

def alibi_bias(num_heads, seq_len):
    t = torch.arange(seq_len)
    bias = torch.tensor(_slopes(num_heads))[:, None, None] * t[None, None, :]
    return bias + torch.full((seq_len, seq_len), float("-inf")).triu(1)
