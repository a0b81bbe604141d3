# verdict: loses gradients
import torch, math
from torch import nn
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_value = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)
    def forward(self, x):
        B, T, D = x.shape
        q = self.W_query(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, 1)
        v = self.W_value(x).view(B, T, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, 1)
        s = q @ k.mT / math.sqrt(self.d)
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
        a = s.softmax(-1)
        if self.training: a = a.detach()
        return self.W_out((a @ v).transpose(1, 2).reshape(B, T, D))
