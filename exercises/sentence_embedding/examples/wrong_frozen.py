# verdict: loses gradients
# diagnosis: cut_off
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.randn(vocab_size, d_model))

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        ordered = sorted(words)
        return self.embedding(torch.tensor([ordered.index(w) for w in words]))
