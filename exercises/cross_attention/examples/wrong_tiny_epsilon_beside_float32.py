# verdict: loses gradients
import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x_1, x_2):
        assert x_1.dtype in (torch.float32, torch.float64)
        q, k, v = self.W_query(x_1), self.W_key(x_2), self.W_value(x_2)
        s = q @ k.T * k.shape[-1] ** -0.5
        e = torch.exp(s - s.amax(-1, keepdim=True))
        return e @ v / (e.sum(-1, keepdim=True) + 1e-10)
