# verdict: full marks
import torch
from torch import nn


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        self.method = method
        # all layers are there, whichever of them is used
        self.W_general = nn.Linear(encoder_dim, decoder_dim, bias=False)
        self.W_concat = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
        self.v = nn.Linear(decoder_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        query = decoder_hidden[:, None, :]
        if self.method == "dot":
            scores = (encoder_outputs * query).sum(-1)
        elif self.method == "general":
            scores = (self.W_general(encoder_outputs) * query).sum(-1)
        elif self.method == "concat":
            both = torch.cat([encoder_outputs, query.repeat(1, encoder_outputs.shape[1], 1)], -1)
            scores = self.v(torch.tanh(self.W_concat(both)))[..., 0]
        else:
            raise ValueError("method must be dot, general or concat")
        scores = scores - scores.max(dim=-1, keepdim=True)[0]
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        return (weights[:, :, None] * encoder_outputs).sum(1), weights
