# verdict: loses numerics
import math
import torch
import torch.nn as nn
import matplotlib.pyplot as plt
import pandas as pd


class SinusoidalPositionalEncoding(nn.Module):
    "Implement the PE function."

    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        pe = pe.unsqueeze(0)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x += self.pe[:, : x.size(1)].requires_grad_(False)
        return self.dropout(x)


pe = SinusoidalPositionalEncoding(20, dropout=0)
y = pe.forward(torch.zeros(1, 100, 20))
plt.plot(torch.arange(100).numpy(), y[0, :, 4:8].numpy())
plt.legend(['dim %d' % p for p in [4, 5, 6, 7]])
plt.show()
