# verdict: full marks
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("heads")
        n, d_head = num_heads, d_out // num_heads
        self.d_head = d_head
        self.W_Q = nn.Parameter(torch.empty((n, d_in, d_head)))
        self.W_K = nn.Parameter(torch.empty((n, d_in, d_head)))
        self.W_V = nn.Parameter(torch.empty((n, d_in, d_head)))
        self.W_O = nn.Parameter(torch.empty((n, d_head, d_out)))
        for w in self.parameters():
            nn.init.normal_(w, std=0.02)
        self.b_Q, self.b_K, self.b_V = 0.0, 0.0, 0.0
        if qkv_bias:
            self.b_Q = nn.Parameter(torch.zeros((n, d_head)))
            self.b_K = nn.Parameter(torch.zeros((n, d_head)))
            self.b_V = nn.Parameter(torch.zeros((n, d_head)))
        self.b_O = nn.Parameter(torch.zeros((d_out)))
        self.drop = nn.Dropout(dropout)
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))

    def forward(self, normalized_resid_pre):
        q = torch.einsum("bpm,nmh->bpnh", normalized_resid_pre, self.W_Q) + self.b_Q
        k = torch.einsum("bpm,nmh->bpnh", normalized_resid_pre, self.W_K) + self.b_K
        v = torch.einsum("bpm,nmh->bpnh", normalized_resid_pre, self.W_V) + self.b_V
        attn_scores = torch.einsum("bqnh,bknh->bnqk", q, k)
        pattern = self.apply_causal_mask(attn_scores / self.d_head**0.5).softmax(-1)
        z = torch.einsum("bknh,bnqk->bqnh", v, self.drop(pattern))
        return torch.einsum("bqnh,nhm->bqm", z, self.W_O) + self.b_O

    def apply_causal_mask(self, attn_scores):
        all_ones = torch.ones(attn_scores.size(-2), attn_scores.size(-1), device=attn_scores.device)
        mask = torch.triu(all_ones, diagonal=1).bool()
        attn_scores.masked_fill_(mask, self.IGNORE)
        return attn_scores
