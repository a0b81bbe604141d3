# verdict: full marks
import math

import torch
import torch.nn as nn


def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        Q = transpose_qkv(self.W_q(query), self.num_heads)
        K = transpose_qkv(self.W_k(key), self.num_heads)
        V = transpose_qkv(self.W_v(value), self.num_heads)
        scores = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])  # (B * h, T_q, T_k)
        if mask is not None:
            mask = mask.expand(-1, 1, query.shape[1], -1).squeeze(1).repeat_interleave(self.num_heads, dim=0)
            scores[mask == 0] = -1e30
        weights = torch.softmax(scores, dim=-1)
        output = torch.bmm(self.dropout(weights), V)
        shape = (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
        return self.W_o(transpose_output(output, self.num_heads)), weights.view(shape)
