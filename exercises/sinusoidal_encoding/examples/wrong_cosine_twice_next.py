# verdict: loses numerics
# diagnosis: indices_doubled_for_both
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SinusoidalPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_seq_len=5000, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        pe = torch.zeros(max_seq_len, d_model)
        pos = torch.arange(max_seq_len)
        for i in range(0, d_model, 2):
            pe[:, i] = torch.sin(pos / (10000 ** ((2 * i) / d_model)))
            pe[:, i + 1] = torch.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
        self.register_buffer("pe", pe.unsqueeze(0))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.size(1)
        return self.dropout(x + self.pe[:, :seq_len])
