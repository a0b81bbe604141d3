# verdict: loses numerics
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn

class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.encoder_att = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.decoder_att = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.full_att = nn.Linear(attention_dim, 1, bias=False)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, encoder_out, decoder_hidden):
        att1 = self.encoder_att(encoder_out)
        att2 = self.decoder_att(decoder_hidden)
        att = self.full_att(torch.tanh(att1 + att2.unsqueeze(1))).squeeze(2)
        alpha = self.softmax(att)
        attention_weighted_encoding = (encoder_out * alpha.unsqueeze(2)).mean(dim=1)
        return attention_weighted_encoding, alpha

class MultiplicativeAttention(nn.Module):
    METHODS = ("dot", "general", "concat")

    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in self.METHODS:
            raise ValueError(f"{method} is none of {self.METHODS}")
        self.method = method
        self.softmax = nn.Softmax(dim=1)
        if method == "general":
            self.linear_in = nn.Linear(encoder_dim, decoder_dim, bias=False)
        if method == "concat":
            self.linear_in = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.linear_v = nn.Linear(decoder_dim, 1, bias=False)

    def score(self, h, s):
        B, T, _ = h.shape
        if self.method == "dot":
            return torch.bmm(h, s.view(B, -1, 1)).view(B, T)
        if self.method == "general":
            return torch.bmm(self.linear_in(h), s.view(B, -1, 1)).view(B, T)
        W_h, W_s = self.linear_in.weight.split([h.size(2), s.size(1)], dim=1)
        return self.linear_v(torch.tanh(F.linear(h, W_h) + F.linear(s, W_s).unsqueeze(1))).view(B, T)

    def forward(self, encoder_outputs, decoder_hidden):
        alpha = self.softmax(self.score(encoder_outputs, decoder_hidden))
        return torch.bmm(alpha.unsqueeze(1), encoder_outputs).squeeze(1), alpha
