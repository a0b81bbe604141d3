# verdict: loses numerics
# diagnosis: scaled_scores
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
            self.v = nn.Parameter(torch.rand(decoder_dim))
    def score(self, h, s):
        if self.method == "dot":
            return torch.bmm(h, s.unsqueeze(2)).squeeze(2)
        if self.method == "general":
            return torch.bmm(self.W(h), s.unsqueeze(2)).squeeze(2)
        s = s.unsqueeze(1).expand(-1, h.size(1), -1)
        return torch.tanh(self.W(torch.cat([h, s], dim=-1))) @ self.v
    def forward(self, encoder_outputs, decoder_hidden):
        w = torch.softmax(self.score(encoder_outputs, decoder_hidden) / decoder_hidden.size(-1) ** .5, dim=1)
        return torch.bmm(w.unsqueeze(1), encoder_outputs).squeeze(1), w
