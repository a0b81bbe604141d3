# verdict: full marks
import torch
import torch.nn as nn
import torch.nn.functional as F


class AdditiveAttention(nn.Module):
    """Bahdanau attention, with the names of the paper."""

    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super(AdditiveAttention, self).__init__()
        self.U_a = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W_a = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v_a = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        T = encoder_outputs.size(1)
        hidden = decoder_hidden.unsqueeze(1).repeat(1, T, 1)
        energy = torch.tanh(self.U_a(encoder_outputs) + self.W_a(hidden))
        attention = self.v_a(energy).squeeze(2)
        a = F.softmax(attention, dim=1)
        context = torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1)
        return context, a
