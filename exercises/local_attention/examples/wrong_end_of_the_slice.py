# verdict: loses masking
# diagnosis: one_too_few_behind
import math
import torch


def local_attention(query, key, value, window):
    T = query.shape[2]
    out = torch.zeros_like(query)
    for i in range(T):
        start = max(0, i - window)
        end = min(T, i + window)
        q_i = query[:, :, i:i+1, :]
        attn = torch.softmax(q_i @ key[:, :, start:end].transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
        out[:, :, i:i+1] = attn @ value[:, :, start:end]
    return out
