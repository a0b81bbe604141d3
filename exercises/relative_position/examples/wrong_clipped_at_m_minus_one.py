# verdict: loses numerics
# diagnosis: clipped_one_short
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RelativeSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        self.num_heads, self.head_dim, self.max_distance = num_heads, d_model // num_heads, max_distance
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.relative_bias = nn.Embedding(2 * max_distance + 1, num_heads)

    def forward(self, x):
        B, T, C = x.shape
        q = self.W_query(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        pos = torch.arange(T, device=x.device)
        distance = pos[None, :] - pos[:, None]
        index = distance.clamp(-self.max_distance + 1, self.max_distance - 1) + self.max_distance
        bias = self.relative_bias(index).permute(2, 0, 1)
        weights = torch.softmax(scores + bias, dim=-1)
        out = (weights @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.W_out(out), weights
