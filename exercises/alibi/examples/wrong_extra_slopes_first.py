# verdict: loses numerics
import math
import torch

def gen_slopes(n_heads, alibi_bias_max=8):
    _n_heads = 2 ** math.ceil(math.log2(n_heads))
    m = torch.arange(1, _n_heads + 1, dtype=torch.get_default_dtype())
    m = m.mul(alibi_bias_max / _n_heads)
    slopes = 1.0 / torch.pow(2, m)
    if _n_heads != n_heads:
        slopes = torch.concat([slopes[::2], slopes[1::2]])[:n_heads]
    return slopes.view(1, n_heads, 1, 1)

def build_alibi_bias(n_heads, seq_len, full=True):
    alibi = torch.arange(1 - seq_len, 1, dtype=torch.int32).view(1, 1, 1, seq_len)
    if full:
        alibi = alibi - torch.arange(1 - seq_len, 1, dtype=torch.int32).view(1, 1, seq_len, 1)
        alibi = alibi.abs().mul(-1)
    slopes = gen_slopes(n_heads)
    return alibi * slopes

def alibi_bias(num_heads, seq_len):
    bias = build_alibi_bias(num_heads, seq_len).squeeze(0)
    hidden = torch.triu(torch.full((seq_len, seq_len), -math.inf), diagonal=1)
    return bias + hidden
