# verdict: loses numerics
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        if getattr(self, "keys", None) is None or self.keys.shape[:2] != encoder_outputs.shape[:2]:
            self.keys = self.W1(encoder_outputs)
        e = self.v(torch.tanh(self.keys + self.W2(decoder_hidden)[:, None]))[..., 0]
        a = torch.softmax(e, dim=-1)
        return torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1), a
