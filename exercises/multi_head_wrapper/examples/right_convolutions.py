# verdict: full marks
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.conv_q = nn.Conv1d(d_in, num_heads * d_out_kq, 1, bias=False)
        self.conv_k = nn.Conv1d(d_in, num_heads * d_out_kq, 1, bias=False)
        self.conv_v = nn.Conv1d(d_in, num_heads * d_out_v, 1, bias=False)

    def forward(self, x):
        c = x.t().unsqueeze(0)
        q, k, v = (conv(c).view(self.num_heads, -1, x.size(0)) for conv in (self.conv_q, self.conv_k, self.conv_v))
        scores = torch.matmul(q.transpose(1, 2) / math.sqrt(q.size(1)), k)
        p_attn = F.softmax(scores, dim=-1)
        output = torch.matmul(p_attn, v.transpose(1, 2))
        return torch.cat(list(output), dim=-1)
