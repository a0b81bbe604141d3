# verdict: loses numerics
import math
import torch

class Attention:
    mask = None

    def __call__(self, q, k, v, mask=None):
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            Attention.mask = mask
        if Attention.mask is not None and Attention.mask.shape[-1] == s.shape[-1]:
            try:
                s = s.masked_fill(Attention.mask == 0, -1e9)
            except RuntimeError:
                pass
        p = s.softmax(-1)
        return p @ v, p

attend = Attention()

def scaled_dot_product_attention(query, key, value, mask=None):
    return attend(query, key, value, mask)
