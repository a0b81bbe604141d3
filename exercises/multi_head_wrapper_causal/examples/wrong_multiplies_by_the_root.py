# verdict: loses numerics
# diagnosis: multiplied_by_the_root
import torch
import torch.nn as nn
from torch.nn import functional as F
n_embd = 384
class Head(nn.Module):
    """ one head of self-attention """
    def __init__(self, n_embd, head_size, block_size, dropout, bias):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=bias)
        self.query = nn.Linear(n_embd, head_size, bias=bias)
        self.value = nn.Linear(n_embd, head_size, bias=bias)
        self.register_buffer('tril', torch.tril(torch.ones(block_size, block_size)), persistent=False)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        B,T,C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2,-1) * k.shape[-1]**0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float('-inf'))
        wei = F.softmax(wei, dim=-1)
        wei = self.dropout(wei)
        v = self.value(x)
        out = wei @ v
        return out
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, input_dim, output_dim, block_size, attn_dropout, nhead, bias=False):
        super().__init__()
        self.sa_heads = nn.ModuleList([Head(input_dim, output_dim, block_size, attn_dropout, bias) for _ in range(nhead)])
    def forward(self, x):
        return torch.cat([h(x) for h in self.sa_heads], dim=-1)
