# verdict: loses numerics
# diagnosis: cut_to_length_one
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, max_norm=1)

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        ids = {word: i for i, word in enumerate(sorted(words))}
        return self.embedding(torch.tensor([ids[word] for word in words]))
