# verdict: loses numerics
import torch
import torch.nn as nn
import torch.nn.functional as F

class ScaledDotProductAttention(nn.Module):
    def __init__(self, attn_dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(attn_dropout)

    def forward(self, q, k, v, mask=None):
        temperature = k.size(-1) * 0.5
        attn = torch.matmul(q / temperature, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, -1e9)
        attn = F.softmax(attn, dim=-1)
        output = torch.matmul(attn, v)
        return output, attn

def scaled_dot_product_attention(q, k, v, mask=None):
    return ScaledDotProductAttention()(q, k, v, mask=mask)
