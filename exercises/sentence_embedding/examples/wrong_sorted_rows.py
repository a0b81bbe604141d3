# verdict: loses numerics
# diagnosis: numbered_as_they_come
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        dc = {s: i for i, s in enumerate(sorted(sentence.replace(",", "").split()))}
        return self.embedding(torch.tensor(list(dc.values())))
