# verdict: loses numerics
import math
import torch

class Alibi:
    bias = None

    @classmethod
    def get(cls, n, T):
        if cls.bias is None or cls.bias.shape[-1] < T or cls.bias.shape[0] < n:
            m = torch.tensor(cls.slopes(n))
            pos = torch.arange(T)
            rel = pos[None, :] - pos[:, None]
            b = m[:, None, None] * rel
            cls.bias = b.masked_fill(rel > 0, float("-inf"))
        return cls.bias[:n, :T, :T]

    @staticmethod
    def slopes(n):
        if math.log2(n).is_integer():
            return [2 ** (-8 * (i + 1) / n) for i in range(n)]
        c = 2 ** math.floor(math.log2(n))
        return Alibi.slopes(c) + Alibi.slopes(2 * c)[0::2][: n - c]

def alibi_bias(num_heads, seq_len):
    return Alibi.get(num_heads, seq_len)
