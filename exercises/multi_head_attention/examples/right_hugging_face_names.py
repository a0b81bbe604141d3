# verdict: full marks
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, attention_probs_dropout_prob):
        super().__init__()
        self.d = hidden_size
        self.h = num_attention_heads
        self.W_q = nn.Linear(hidden_size, hidden_size)
        self.W_k = nn.Linear(hidden_size, hidden_size)
        self.W_v = nn.Linear(hidden_size, hidden_size)
        self.W_o = nn.Linear(hidden_size, hidden_size)
        self.drop = nn.Dropout(attention_probs_dropout_prob)
    def split(self, t):
        return t.view(t.size(0), -1, self.h, self.d // self.h).transpose(1, 2)
    def forward(self, query, key, value, attention_mask=None):
        q, k, v = self.split(self.W_q(query)), self.split(self.W_k(key)), self.split(self.W_v(value))
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d // self.h)
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        a = self.drop(torch.softmax(s, dim=-1))
        o = (a @ v).transpose(1, 2).contiguous().view(query.size(0), -1, self.d)
        return self.W_o(o), a
torch.manual_seed(0)
m = MultiHeadAttention(8, 2, 0.0)
x = torch.randn(2, 3, 8)
y, a = m(x, x, x)
print(y.shape, a.shape)
assert y.dtype is torch.float32
