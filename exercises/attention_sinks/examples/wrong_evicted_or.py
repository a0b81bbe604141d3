# verdict: loses masking
import torch
from torch import nn

class SinkAttention(nn.Module):
    def __init__(self, window, num_sinks):
        super().__init__()
        self.window, self.num_sinks = window, num_sinks

    def hidden(self, n):
        pos = torch.arange(n)
        future = pos[None] > pos[:, None]
        evicted = (pos[:, None] - pos[None] >= self.window) | (pos[None] >= self.num_sinks)
        return future | evicted

    def forward(self, q, k, v):
        n, scale = q.shape[2], q.shape[3] ** 0.5
        bias = torch.zeros(n, n, dtype=q.dtype).masked_fill_(self.hidden(n), torch.finfo(q.dtype).min)
        p = torch.softmax((q / scale) @ k.mT + bias, dim=-1)
        return p @ v

def sink_attention(query, key, value, window, num_sinks):
    return SinkAttention(window, num_sinks)(query, key, value)
