# verdict: loses masking
# diagnosis: mask_taken_for_lengths
import math

import torch
import torch.nn as nn


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        valid_lens = mask.long().sum(dim=-1, keepdim=True)
        mask = torch.arange(mask.size(-1), device=mask.device) < valid_lens
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
        self.method = method
        if method == "general":
            self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Linear(decoder_dim, 1, bias=False)
        elif method != "dot":
            raise ValueError(f"unknown method {method}")

    def forward(self, encoder_outputs, decoder_hidden):
        state = decoder_hidden.unsqueeze(2)
        if self.method == "dot":
            scores = torch.bmm(encoder_outputs, state).squeeze(2)
        elif self.method == "general":
            scores = torch.bmm(self.W(encoder_outputs), state).squeeze(2)
        else:
            repeated = decoder_hidden.unsqueeze(1).repeat(1, encoder_outputs.size(1), 1)
            both = torch.cat([encoder_outputs, repeated], dim=2)
            scores = self.v(torch.tanh(self.W(both))).squeeze(2)
        weights = torch.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), encoder_outputs).squeeze(1), weights
