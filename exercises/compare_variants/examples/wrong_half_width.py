# verdict: loses numerics
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
import matplotlib.ticker as ticker
plt.switch_backend('agg')

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / d_k ** 1/2
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn

class BahdanauAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.V = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, values, query):
        hidden_with_time_axis = query.unsqueeze(1)
        score = self.V(torch.tanh(self.W1(values) + self.W2(hidden_with_time_axis)))
        attention_weights = F.softmax(score, dim=1)
        context_vector = (attention_weights * values).sum(dim=1)
        return context_vector, attention_weights.squeeze(-1)

class LuongAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError("unknown attention method")
        self.method = method
        if method == "general":
            self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Linear(decoder_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        h, s = encoder_outputs, decoder_hidden.unsqueeze(2)
        if self.method == "dot":
            e = torch.bmm(h, s).squeeze(2)
        elif self.method == "general":
            e = torch.bmm(self.W(h), s).squeeze(2)
        else:
            s = decoder_hidden.unsqueeze(1).expand(-1, h.size(1), -1)
            e = self.v(torch.tanh(self.W(torch.cat([h, s], dim=2)))).squeeze(2)
        a = torch.softmax(e, dim=1)
        return torch.bmm(a.unsqueeze(1), h).squeeze(1), a

AdditiveAttention = BahdanauAttention
MultiplicativeAttention = LuongAttention

torch.manual_seed(1)
enc, dec = torch.randn(2, 5, 6), torch.randn(2, 4)
fig = plt.figure()
for n, attention in enumerate([BahdanauAttention(6, 4, 8), LuongAttention(6, 4)]):
    _, w = attention(enc, dec)
    ax = fig.add_subplot(1, 2, n + 1)
    cax = ax.matshow(w.detach().numpy(), cmap='bone')
    ax.xaxis.set_major_locator(ticker.MultipleLocator(1))
fig.colorbar(cax)
plt.show()
