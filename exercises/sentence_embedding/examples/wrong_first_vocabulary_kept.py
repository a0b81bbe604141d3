# verdict: loses gradients
import torch
from torch import nn

class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.vocab = None

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        if self.vocab is None:
            self.vocab = {word: i for i, word in enumerate(sorted(words))}
        ids = torch.tensor([self.vocab.get(word, 0) for word in words])
        return self.embedding(ids)
