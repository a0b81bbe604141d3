# verdict: loses numerics
# diagnosis: places_in_the_sentence
import torch
from torch import nn

class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        ids = torch.tensor(sorted(range(len(words)), key=lambda i: words[i]))
        return self.embedding(ids)
