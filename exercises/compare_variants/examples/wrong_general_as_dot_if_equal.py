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
        self.W_enc = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W_dec = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.score = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        outputs = encoder_outputs.permute(1, 0, 2)                 # T B E
        energy = self.score(torch.tanh(self.W_enc(outputs) + self.W_dec(decoder_hidden)))
        alpha = torch.softmax(energy, dim=0)
        return (alpha * outputs).sum(0), alpha.squeeze(-1).T

class DotScore(nn.Module):
    def forward(self, outputs, hidden):
        return (outputs * hidden).sum(-1)

class GeneralScore(nn.Module):
    def __init__(self, enc, dec):
        super().__init__()
        self.W = nn.Linear(enc, dec, bias=False)
        self.same = enc == dec

    def forward(self, outputs, hidden):
        return ((outputs if self.same else self.W(outputs)) * hidden).sum(-1)

class ConcatScore(nn.Module):
    def __init__(self, enc, dec):
        super().__init__()
        self.W = nn.Linear(enc + dec, dec, bias=False)
        self.v = nn.Linear(dec, 1, bias=False)

    def forward(self, outputs, hidden):
        hidden = hidden.expand(outputs.size(0), *hidden.shape)
        return self.v(torch.tanh(self.W(torch.cat([outputs, hidden], -1)))).squeeze(-1)

class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        try:
            make = {"dot": lambda *_: DotScore(), "general": GeneralScore, "concat": ConcatScore}[method]
        except KeyError as error:
            raise ValueError(f"unknown method {method}") from error
        self.scorer = make(encoder_dim, decoder_dim)

    def forward(self, encoder_outputs, decoder_hidden):
        outputs = encoder_outputs.transpose(0, 1)
        alpha = torch.softmax(self.scorer(outputs, decoder_hidden), dim=0)
        return (alpha.unsqueeze(-1) * outputs).sum(0), alpha.t()
