# verdict: loses numerics
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        self.method = method
        if self.method not in ["dot", "general", "concat"]:
            raise ValueError(self.method, "is not an appropriate attention method.")
        self.hidden_size = decoder_dim
        if self.method == "general":
            self.attn = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif self.method == "concat":
            self.attn = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Parameter(torch.FloatTensor(decoder_dim).uniform_())

    def dot_score(self, hidden, encoder_output):
        return torch.sum(hidden * encoder_output, dim=2)

    def general_score(self, hidden, encoder_output):
        energy = self.attn(encoder_output)
        return torch.mean(hidden * energy, dim=2)

    def concat_score(self, hidden, encoder_output):
        energy = self.attn(torch.cat((encoder_output, hidden.expand(-1, encoder_output.size(1), -1)), 2)).tanh()
        return torch.sum(self.v * energy, dim=2)

    def forward(self, encoder_outputs, hidden):
        h = hidden.unsqueeze(1)
        if self.method == "general":
            attn_energies = self.general_score(h, encoder_outputs)
        elif self.method == "concat":
            attn_energies = self.concat_score(h, encoder_outputs)
        elif self.method == "dot":
            attn_energies = self.dot_score(h, encoder_outputs)
        weights = F.softmax(attn_energies, dim=1)
        return weights.unsqueeze(1).bmm(encoder_outputs).squeeze(1), weights
