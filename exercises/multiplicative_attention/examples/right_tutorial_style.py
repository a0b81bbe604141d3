# verdict: full marks
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        self.method = method
        if self.method not in ["dot", "general", "concat"]:
            raise ValueError(self.method, "is not an appropriate attention method.")
        if self.method == "general":
            self.attn = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif self.method == "concat":
            self.attn = nn.Linear(encoder_dim + decoder_dim, decoder_dim, bias=False)
            self.v = nn.Parameter(torch.FloatTensor(decoder_dim))

    def dot_score(self, hidden, encoder_output):
        return torch.sum(hidden * encoder_output, dim=2)

    def general_score(self, hidden, encoder_output):
        energy = self.attn(encoder_output)
        return torch.sum(hidden * energy, dim=2)

    def concat_score(self, hidden, encoder_output):
        hidden = hidden.expand(-1, encoder_output.size(1), -1)
        energy = self.attn(torch.cat((encoder_output, hidden), 2)).tanh()
        return torch.sum(self.v * energy, dim=2)

    def forward(self, encoder_outputs, decoder_hidden):
        hidden = decoder_hidden.unsqueeze(1)
        energies = getattr(self, self.method + "_score")(hidden, encoder_outputs)
        weights = F.softmax(energies, dim=1)
        return weights.unsqueeze(1).bmm(encoder_outputs).squeeze(1), weights
