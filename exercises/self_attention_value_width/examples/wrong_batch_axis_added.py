# verdict: loses shapes
# diagnosis: adds_a_batch_axis
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.q, self.k = nn.Linear(d_in, d_out_kq, bias=False), nn.Linear(d_in, d_out_kq, bias=False)
        self.v = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x):
        if x.dim() == 2:
            x = x.unsqueeze(0)
        q, k, v = self.q(x), self.k(x), self.v(x)
        return torch.bmm(torch.softmax(torch.bmm(q, k.mT) / q.size(-1) ** 0.5, -1), v)
