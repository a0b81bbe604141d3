# verdict: loses numerics
# diagnosis: begins_with_one, never_drops
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.1):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_len, d_model)
        self.p = dropout

    def forward(self, x):
        return x + self.position_embeddings(torch.arange(x.shape[1]))
