# verdict: loses gradients
import torch
from torch import nn
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.1):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.position_embeddings.weight, std=0.02)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        p = self.position_embeddings(torch.arange(x.size(1)))
        if self.training: p = p.detach()
        return self.dropout(x + p)
