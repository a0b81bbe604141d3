# verdict: full marks
# The bias joins the products before they are scaled, and is made larger by the same root.
import torch
from torch import nn


class RelativeSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.relative_bias = nn.Embedding(2 * max_distance + 1, num_heads)
        self.m = max_distance

    def forward(self, x):
        root = (x.shape[2] // self.num_heads) ** 0.5
        q, k, v = (
            torch.stack(layer(x).chunk(self.num_heads, dim=-1), dim=1)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        t = torch.arange(x.shape[1])
        index = self.m - (t[:, None] - t[None, :]).clamp(min=-self.m, max=self.m)
        bias = self.relative_bias(index).transpose(0, 2).transpose(1, 2)
        weights = torch.softmax((q @ k.transpose(-2, -1) + root * bias) / root, dim=-1)
        return self.W_out(torch.cat((weights @ v).unbind(1), dim=-1)), weights
