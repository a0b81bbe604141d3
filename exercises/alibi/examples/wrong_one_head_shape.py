# verdict: loses shapes
import torch
def alibi_bias(num_heads, seq_len):
    t = torch.arange(seq_len)
    d = (t[:, None] - t[None, :])
    m = 2.0 ** (-8.0 / num_heads * torch.arange(1, num_heads + 1))
    return (-m[:, None, None] * d).masked_fill(d < 0, float("-inf")).squeeze()
