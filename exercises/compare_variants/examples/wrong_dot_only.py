# verdict: loses numerics
import math

import torch
import torch.nn as nn


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        hidden = torch.tanh(self.W1(encoder_outputs) + self.W2(decoder_hidden).unsqueeze(1))
        weights = torch.softmax(self.v(hidden).squeeze(-1), dim=1)
        context = torch.bmm(weights.unsqueeze(1), encoder_outputs).squeeze(1)
        return context, weights


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError(method)
        self.W = nn.Linear(encoder_dim, decoder_dim, bias=False) if method != "dot" else None

    def forward(self, encoder_outputs, decoder_hidden):
        keys = encoder_outputs if self.W is None else self.W(encoder_outputs)
        weights = torch.softmax((keys * decoder_hidden.unsqueeze(1)).sum(-1), dim=-1)
        return (weights.unsqueeze(-1) * encoder_outputs).sum(1), weights
