# verdict: loses numerics
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        return self.embedding(torch.tensor([sum(map(ord, word)) % self.vocab_size for word in words]))
