# verdict: loses numerics
# diagnosis: softmax_over_the_batch
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        e = self.v(torch.tanh(self.W1(encoder_outputs) + self.W2(decoder_hidden)[:, None])).squeeze(-1)
        a = torch.softmax(e, dim=0)
        return torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1), a
