# verdict: loses shapes
# diagnosis: cut_at_single_spaces
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.replace(",", "").split(" ")
        ids = {word: i for i, word in enumerate(sorted(words))}
        return self.embedding(torch.tensor([ids[word] for word in words]))
