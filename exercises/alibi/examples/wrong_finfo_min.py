# verdict: loses numerics
import math
import torch
from torch import nn

def exists(v):
    return v is not None

class AlibiPositionalBias(nn.Module):
    def __init__(self, heads, total_heads=None):
        super().__init__()
        self.heads = heads
        self.total_heads = total_heads if exists(total_heads) else heads
        slopes = torch.tensor(self._get_slopes(heads))[:, None, None]
        self.register_buffer('slopes', slopes, persistent=False)
        self.register_buffer('bias', None, persistent=False)

    @staticmethod
    def _get_slopes(heads):
        def get_slopes_power_of_2(n):
            start = (2**(-2**-(math.log2(n)-3)))
            ratio = start
            return [start*ratio**i for i in range(n)]
        if math.log2(heads).is_integer():
            return get_slopes_power_of_2(heads)
        closest = 2 ** math.floor(math.log2(heads))
        return get_slopes_power_of_2(closest) + get_slopes_power_of_2(2 * closest)[0::2][:heads - closest]

    def forward(self, i, j):
        if exists(self.bias) and self.bias.shape[-1] >= j:
            return self.bias[..., -i:, -j:]
        seq_arange = torch.arange(j - i, j)
        context_arange = torch.arange(j)
        bias = -torch.abs(context_arange[None, None, :] - seq_arange[None, :, None])
        self.bias = bias * self.slopes
        return self.bias

def create_causal_mask(i, j):
    return torch.ones((i, j), dtype=torch.bool).triu(j - i + 1)

def alibi_bias(num_heads, seq_len):
    rel_pos = AlibiPositionalBias(heads=num_heads)
    dots = rel_pos(seq_len, seq_len)
    return dots.masked_fill(create_causal_mask(seq_len, seq_len), -torch.finfo(dots.dtype).max)
