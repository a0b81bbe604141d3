# verdict: loses numerics
# diagnosis: case_ignored
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.lower().replace(",", "").split()
        vocab = sorted(set(words))
        return self.embedding(torch.tensor([vocab.index(word) for word in words]))
