# verdict: loses numerics
import torch

def alibi_bias(num_heads: int, seq_len: int) -> torch.Tensor:
    c = 2 ** (num_heads.bit_length() - 1)
    first = torch.arange(1, c + 1) * (8 // c)
    rest = torch.arange(1, 2 * c + 1, 2)[: num_heads - c] * (8 // (2 * c))
    m = torch.exp2(-torch.cat([first, rest]).to(torch.get_default_dtype()))
    i, j = torch.meshgrid(torch.arange(seq_len), torch.arange(seq_len), indexing="ij")
    distance = (i - j).expand(num_heads, seq_len, seq_len)
    out = -(m.reshape(num_heads, 1, 1) * distance)
    out[distance < 0] = -float("inf")
    return out
