# verdict: loses masking
# diagnosis: shows_only_the_future
import math, torch
from torch import nn
from torch.nn import functional as F
class MultiHeadAttention(nn.Module):
    def __init__(self, input_dim, output_dim, block_size, dropout_rate, n_heads, bias=False):
        super().__init__()
        if output_dim % n_heads:
            raise ValueError("no")
        self.c_attn = nn.Linear(input_dim, 3 * output_dim, bias=bias)
        self.c_proj = nn.Linear(output_dim, output_dim)
        self.attn_dropout = nn.Dropout(dropout_rate)
        self.n_head = n_heads
        self.n_embd = output_dim
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))
    def forward(self, x):
        B, T, _ = x.size()
        C = self.n_embd
        q, k, v  = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:,:,:T,:T] != 0, float('-inf'))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)
