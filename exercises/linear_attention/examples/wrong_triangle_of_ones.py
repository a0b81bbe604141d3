# verdict: loses memory
# diagnosis: holds_all_weights_when_causal
import torch
import torch.nn.functional as F


def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    B, H, T, D = q.shape
    kv = (k.unsqueeze(-1) * value.unsqueeze(-2)).flatten(3)
    if causal:  # prefix sums as a product with a triangle
        upto = torch.ones(T, T, dtype=query.dtype).tril()
        kv, z = upto @ kv, upto @ k
    else:
        kv, z = kv.sum(2, keepdim=True), k.sum(2, keepdim=True)
    kv = kv.unflatten(3, (D, value.shape[-1]))
    return (q.unsqueeze(-1) * kv).sum(-2) / (q * z).sum(-1, keepdim=True)
