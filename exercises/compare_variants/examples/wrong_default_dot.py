# verdict: loses learning
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn

class AdditiveAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, attn_dim):
        super().__init__()
        self.W1 = nn.Linear(enc_hid_dim, attn_dim, bias=False)
        self.W2 = nn.Linear(dec_hid_dim, attn_dim, bias=False)
        self.v = nn.Linear(attn_dim, 1, bias=False)

    def forward(self, encoder_outputs, hidden):
        src_len = encoder_outputs.shape[1]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        energy = torch.tanh(self.W1(encoder_outputs) + self.W2(hidden))
        attention = self.v(energy).squeeze(2)
        a = F.softmax(attention, dim=1)
        return torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1), a

class MultiplicativeAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, method="concat"):
        super().__init__()
        self.method = method
        width = {"general": enc_hid_dim, "concat": enc_hid_dim + dec_hid_dim}.get(method)
        self.W = nn.Linear(width, dec_hid_dim, bias=False) if width else None
        self.v = nn.Linear(dec_hid_dim, 1, bias=False) if method == "concat" else None

    def forward(self, encoder_outputs, hidden):
        match self.method:
            case "dot":
                e = (encoder_outputs @ hidden[..., None])[..., 0]
            case "general":
                e = (self.W(encoder_outputs) @ hidden[..., None])[..., 0]
            case "concat":
                h = hidden[:, None].expand(-1, encoder_outputs.shape[1], -1)
                e = self.v(torch.tanh(self.W(torch.cat((encoder_outputs, h), dim=-1))))[..., 0]
            case other:
                raise ValueError(f"no such method: {other}")
        a = e.softmax(-1)
        return (a[:, None] @ encoder_outputs)[:, 0], a
