# verdict: loses numerics
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size, self.d_model = vocab_size, d_model

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        ids = {word: i for i, word in enumerate(sorted(words))}
        embedding = nn.Embedding(self.vocab_size, self.d_model)
        return embedding(torch.tensor([ids[word] for word in words]))
