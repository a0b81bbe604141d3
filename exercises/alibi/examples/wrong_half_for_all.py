# verdict: loses numerics
# diagnosis: ratio_one_half
import torch

def alibi_bias(num_heads, seq_len):
    p = 1 << (num_heads.bit_length() - 1)
    m = [0.5 ** k for k in range(1, p + 1)] + [0.5 ** k for k in range(1, 2 * p, 2)]
    t = torch.arange(seq_len)
    d = t[:, None] - t[None, :]
    return (-torch.tensor(m[:num_heads])[:, None, None] * d).masked_fill(d < 0, float("-inf"))
