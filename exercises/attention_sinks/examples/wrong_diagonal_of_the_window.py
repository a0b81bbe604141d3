# verdict: loses masking
# diagnosis: window_too_wide
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    keep = torch.triu(torch.ones(T, T), diagonal=-window)
    keep[:, :num_sinks] = 1
    keep = torch.tril(keep)
    s = torch.einsum("bhid,bhjd->bhij", query, key) * query.shape[-1] ** -0.5
    return torch.einsum("bhij,bhjd->bhid", s.masked_fill(keep == 0, -1e9).softmax(-1), value)
