# verdict: loses numerics
# diagnosis: no_v
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        e = torch.tanh(self.W1(encoder_outputs) + self.W2(decoder_hidden).unsqueeze(1)).sum(-1)
        a = e.softmax(dim=-1)
        return torch.einsum("bt,btd->bd", a, encoder_outputs), a
