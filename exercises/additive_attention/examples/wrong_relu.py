# verdict: loses numerics
# diagnosis: relu_for_tanh
import torch
from torch import nn
class AdditiveAttention(nn.Module):
    def __init__(self, enc_hidden_dim, dec_hidden_dim, attn_dim):
        super().__init__()
        self.W1 = nn.Linear(enc_hidden_dim, attn_dim, bias=False)
        self.W2 = nn.Linear(dec_hidden_dim, attn_dim, bias=False)
        self.v = nn.Linear(attn_dim, 1, bias=False)
    def forward(self, encoder_outputs, hidden):
        e = self.v(torch.relu(self.W1(encoder_outputs) + self.W2(hidden).unsqueeze(1)))
        a = torch.softmax(e.squeeze(-1), dim=1)
        c = torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1)
        return c, a
