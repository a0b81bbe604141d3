# verdict: loses numerics
import torch
import torch.nn.functional as F

def make_mask(T, window, num_sinks):
    ones = torch.ones(T, T)
    band = torch.tril(ones) - torch.tril(ones, diagonal=-window)
    band[:, :num_sinks] = 1
    return torch.tril(band)

def sink_attention(query, key, value, window, num_sinks):
    mask = make_mask(query.shape[2], window, num_sinks)
    att = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    att = att * mask
    att = att.masked_fill(att == 0, float("-inf"))
    return F.softmax(att, dim=-1) @ value
