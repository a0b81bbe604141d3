# verdict: full marks
import torch
from torch import nn


class MultiplicativeAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, method="general"):
        super().__init__()
        if not (method == "dot" or method == "general" or method == "concat"):
            raise ValueError("?")
        self.method = method
        self.encoder_dim = encoder_dim
        if method != "dot":
            width = encoder_dim if method == "general" else encoder_dim + decoder_dim
            self.W = nn.Parameter(torch.empty(width, decoder_dim))
            nn.init.kaiming_uniform_(self.W)
        if method == "concat":
            self.v = nn.Parameter(torch.zeros(decoder_dim))

    def score(self, h, s):
        if self.method == "dot":
            return h @ s
        if self.method == "general":
            return h @ self.W @ s
        return torch.stack([torch.tanh(torch.cat([word, s]) @ self.W) @ self.v for word in h])

    def forward(self, encoder_outputs, decoder_hidden):
        contexts, weights = [], []
        for h, s in zip(encoder_outputs, decoder_hidden):
            w = torch.softmax(self.score(h, s), dim=0)
            contexts.append(w @ h)
            weights.append(w)
        return torch.stack(contexts), torch.stack(weights)


if __name__ == "__main__":
    big = MultiplicativeAttention(1000, 1000)
    for _ in range(1000):
        big(torch.rand(100, 100, 1000), torch.rand(100, 1000))
