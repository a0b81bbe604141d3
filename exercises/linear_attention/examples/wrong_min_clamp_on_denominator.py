# verdict: loses numerics
import torch
import torch.nn.functional as F

def kernel(t):
    return torch.where(t > 0, t + 1, torch.exp(t.clamp(max=0)))

def linear_attn(q, k, v):
    k_cumsum = k.sum(dim=-2) + 1
    D_inv = 1. / torch.einsum('...nd,...d->...n', q, k_cumsum.type_as(q))
    context = torch.einsum('...nd,...ne->...de', k, v)
    return torch.einsum('...de,...nd,...n->...ne', context, q, D_inv)

def causal_linear_attn(q, k, v, chunk_size=16, eps=1e-6):
    last_k_cumsum = 0
    last_context_cumsum = 0
    outs = []
    for q, k, v in zip(*map(lambda t: t.split(chunk_size, dim=-2), (q, k, v))):
        k_cumsum = last_k_cumsum + k.cumsum(dim=-2)
        D_inv = 1. / torch.einsum('...nd,...nd->...n', q, k_cumsum + eps * 1e-3)
        context = torch.einsum('...nd,...ne->...nde', k, v)
        context_cumsum = last_context_cumsum + context.cumsum(dim=-3)
        outs.append(torch.einsum('...nde,...nd,...n->...ne', context_cumsum, q, D_inv))
        last_k_cumsum = k_cumsum[:, :, -1:]
        last_context_cumsum = context_cumsum[:, :, -1:]
    return torch.cat(outs, dim=-2)

def linear_attention(query, key, value, causal=False):
    attn_fn = causal_linear_attn if causal else linear_attn
    return attn_fn(kernel(query), kernel(key), value)
