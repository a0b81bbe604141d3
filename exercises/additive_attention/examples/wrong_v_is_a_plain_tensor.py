# verdict: loses numerics
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = torch.rand(attention_dim)

    def forward(self, encoder_outputs, decoder_hidden):
        e = torch.tanh(self.W1(encoder_outputs) + self.W2(decoder_hidden)[:, None]) @ self.v
        a = torch.softmax(e, dim=-1)
        return torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1), a
