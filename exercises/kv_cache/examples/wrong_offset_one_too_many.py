# verdict: loses numerics
import torch
from torch import nn

class DynamicCache:
    def __init__(self):
        self.key_cache = []
        self.value_cache = []

    def get_seq_length(self, layer_idx=0):
        return self.key_cache[layer_idx].shape[-2] if len(self.key_cache) > layer_idx else 0

    def update(self, key_states, value_states, layer_idx=0):
        if len(self.key_cache) <= layer_idx:
            self.key_cache.append(key_states)
            self.value_cache.append(value_states)
        else:
            self.key_cache[layer_idx] = torch.cat([self.key_cache[layer_idx], key_states], dim=-2)
            self.value_cache[layer_idx] = torch.cat([self.value_cache[layer_idx], value_states], dim=-2)
        return self.key_cache[layer_idx], self.value_cache[layer_idx]

class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, layer_idx=0):
        super().__init__()
        self.layer_idx, self.num_heads = layer_idx, num_heads
        self.scaling = (d_model // num_heads) ** -0.5
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        cache = DynamicCache() if cache is None else cache
        split = lambda t: t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        past = cache.get_seq_length(self.layer_idx)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        k, v = cache.update(k, v, self.layer_idx)
        cache_position = torch.arange(past, past + x.shape[1]) + int(past > 0)
        causal = torch.arange(k.shape[-2]) > cache_position.reshape(-1, 1)
        attn = (q @ k.transpose(2, 3) * self.scaling).masked_fill(causal, float("-inf")).softmax(-1)
        out = (attn @ v).transpose(1, 2).flatten(2)
        return self.o_proj(out), cache
