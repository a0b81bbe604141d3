# verdict: full marks
import torch
def attention_dropout(attn, drop_rate, train=True):
    if train and drop_rate > 0:
        u = torch.empty_like(attn).uniform_(0, 1)
        keep = u >= drop_rate
        denom = max(1 - drop_rate, 1e-12)
        return torch.where(keep, attn / denom, torch.zeros((), dtype=attn.dtype))
    return attn
