# verdict: loses masking
import torch

class StartRecentKVCache:
    def __init__(self, start_size, recent_size):
        self.start_size, self.recent_size = start_size, recent_size
        self.k = self.v = None

    def __call__(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=2)
        seq_len = self.k.size(2)
        if seq_len > self.start_size + self.recent_size:
            keep = lambda t: torch.cat([t[:, :, : self.start_size], t[:, :, seq_len - self.recent_size :]], dim=2)
            self.k, self.v = keep(self.k), keep(self.v)
        return self.k, self.v

def sink_attention(query, key, value, window, num_sinks):
    cache = StartRecentKVCache(num_sinks, max(window - num_sinks, 1))
    outputs = []
    for t in range(query.size(2)):
        k, v = cache(key[:, :, t : t + 1], value[:, :, t : t + 1])
        w = torch.matmul(query[:, :, t : t + 1], k.transpose(2, 3)) / query.size(-1) ** 0.5
        outputs.append(torch.matmul(torch.softmax(w, dim=-1), v))
    return torch.cat(outputs, dim=2)
