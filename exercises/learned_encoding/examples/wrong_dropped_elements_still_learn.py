# verdict: loses gradients
# diagnosis: dropped_ones_learn
import torch
import torch.nn as nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.1):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.position_embeddings.weight, mean=0.0, std=0.02)

    def forward(self, x):
        batch_size, seq_len, _ = x.size()
        positions = torch.arange(seq_len, device=x.device).unsqueeze(0).expand(batch_size, seq_len)
        encoded = x + self.position_embeddings(positions)
        return encoded + (self.dropout(encoded) - encoded).detach()


if __name__ == "__main__":
    print(LearnedPositionalEncoding(512)(torch.zeros(64, 512, 512)).std())
