# verdict: loses numerics
# diagnosis: commas_left
import torch
from torch import nn

class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.split()
        vocab = {word: i for i, word in enumerate(sorted(words))}
        ids = torch.tensor([vocab[word] for word in words])
        return self.embedding(ids)
