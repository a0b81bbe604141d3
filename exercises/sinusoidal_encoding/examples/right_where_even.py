# verdict: full marks
import torch
from torch import nn


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, embed_dim, max_seq_len=5000, p=0.1):
        super().__init__()
        pos = torch.arange(max_seq_len)[:, None]
        dim = torch.arange(embed_dim)[None, :]
        rate = 1 / torch.pow(10000, (2 * (dim // 2)) / embed_dim)
        angle = pos * rate
        self.register_buffer("encoding", torch.where(dim % 2 == 0, angle.sin(), angle.cos()))
        self.drop = nn.Dropout(p)

    def forward(self, tokens):
        return self.drop(tokens + self.encoding[: tokens.size(1)].to(tokens))
