# verdict: loses numerics
# diagnosis: looks_the_other_way
import math

import torch
import torch.nn as nn


class RelativeSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        assert d_model % num_heads == 0
        self.d_k = d_model // num_heads
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.relative_bias = nn.Embedding(2 * max_distance + 1, num_heads)

    def forward(self, x):
        batch, time, width = x.shape
        q = self.W_q(x).view(batch, time, self.num_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(batch, time, self.num_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(batch, time, self.num_heads, self.d_k).transpose(1, 2)

        positions = torch.arange(time, device=x.device)
        relative = positions.unsqueeze(1) - positions.unsqueeze(0)
        relative = torch.clamp(relative, -self.max_distance, self.max_distance) + self.max_distance
        bias = self.relative_bias(relative).permute(2, 0, 1).unsqueeze(0)

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k) + bias
        attention = torch.softmax(scores, dim=-1)
        out = torch.matmul(attention, v).transpose(1, 2).contiguous().view(batch, time, width)
        return self.W_o(out), attention
