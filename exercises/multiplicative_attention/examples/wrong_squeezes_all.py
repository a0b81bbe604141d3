# verdict: loses shapes
# diagnosis: squeezes_too_much
import torch
from torch import nn


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if method not in ("dot", "general", "concat"):
            raise ValueError(method)
        self.method = method
        if method == "general":
            self.W = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif method == "concat":
            self.W = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Linear(decoder_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        if self.method == "dot":
            scores = torch.bmm(encoder_outputs, decoder_hidden[:, :, None])[:, :, 0]
        elif self.method == "general":
            scores = torch.bmm(self.W(encoder_outputs), decoder_hidden[:, :, None])[:, :, 0]
        else:
            states = decoder_hidden[:, None].expand(-1, encoder_outputs.shape[1], -1)
            both = torch.cat((encoder_outputs, states), dim=-1)
            hidden = torch.tanh(self.W(both))
            scores = self.v(hidden).squeeze(-1)
        weights = torch.softmax(scores, dim=-1)
        context = torch.bmm(weights[:, None], encoder_outputs)
        return context.squeeze(), weights.squeeze()
