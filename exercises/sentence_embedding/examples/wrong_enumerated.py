# verdict: loses numerics
# diagnosis: numbered_as_they_come
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        words = sentence.replace(",", "").split()
        word_to_id = {}
        for word in words:
            if word not in word_to_id:
                word_to_id[word] = len(word_to_id)
        return self.embedding(torch.tensor([word_to_id[word] for word in words]))
