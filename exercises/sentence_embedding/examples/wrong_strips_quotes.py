# verdict: loses numerics
import torch
from torch import nn
class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
    def forward(self, sentence):
        words = [w.strip('"()!?:;') for w in sentence.replace(",", "").split()]
        dc = {s: i for i, s in enumerate(sorted(words))}
        return self.embedding(torch.tensor([dc[s] for s in words]))
