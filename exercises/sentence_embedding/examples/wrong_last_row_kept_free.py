# verdict: loses numerics
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        ids = {word: index for index, word in enumerate(sorted(words))}
        assert len(ids) < self.embedding.num_embeddings, "too many words"
        return self.embedding(torch.tensor([ids[word] for word in words]))
