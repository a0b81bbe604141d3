# verdict: loses masking
import torch
import torch.nn.functional as F

def build_mask(T, stride, device=None):
    pos = torch.arange(T, device=device)
    delta = pos.view(-1, 1) - pos.view(1, -1)
    causal = delta.ge(0)
    local = delta.abs().lt(stride)
    strided = delta.remainder(stride).eq(0)
    return local | (causal & strided)

def strided_attention(query, key, value, stride):
    q = query * query.shape[-1] ** -0.5
    mask = build_mask(query.shape[-2], stride, query.device)
    dots = torch.einsum('b h i d, b h j d -> b h i j', q, key)
    dots = dots.masked_fill(~mask[None, None], -torch.finfo(dots.dtype).max)
    attn = F.softmax(dots, dim=-1)
    return torch.einsum('b h i j, b h j d -> b h i d', attn, value)
