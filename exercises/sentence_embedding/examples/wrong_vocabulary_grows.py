# verdict: loses gradients
import torch
from torch import nn

class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.vocab = {}

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        for word in sorted(words):
            self.vocab.setdefault(word, len(self.vocab))
        ids = torch.tensor([self.vocab[word] for word in words])
        return self.embedding(ids)
