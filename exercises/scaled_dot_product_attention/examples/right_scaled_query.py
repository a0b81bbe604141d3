# verdict: full marks
import torch


def scaled_dot_product_attention(q, k, v, attn_mask=None):
    q = q / q.size(-1) ** 0.5
    attn = q @ k.mT
    if attn_mask is not None:
        attn = attn.masked_fill(attn_mask.logical_not(), -torch.inf)
    attn = torch.softmax(attn, -1)
    return attn @ v, attn
