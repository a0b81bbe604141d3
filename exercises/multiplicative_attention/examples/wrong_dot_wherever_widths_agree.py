# verdict: loses numerics
# With equal widths no matrix is needed to compare the two, but `general` has one all the same.
import torch
import torch.nn as nn


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError(f"unknown method {method}")
        self.method = method
        if method == "general":
            self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Linear(decoder_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        state = decoder_hidden.unsqueeze(2)
        if self.method == "concat":
            repeated = decoder_hidden.unsqueeze(1).repeat(1, encoder_outputs.size(1), 1)
            scores = self.v(torch.tanh(self.W(torch.cat([encoder_outputs, repeated], dim=2)))).squeeze(2)
        elif encoder_outputs.size(-1) == decoder_hidden.size(-1):
            scores = torch.bmm(encoder_outputs, state).squeeze(2)
        else:
            scores = torch.bmm(self.W(encoder_outputs), state).squeeze(2)
        weights = torch.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), encoder_outputs).squeeze(1), weights
