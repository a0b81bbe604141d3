# verdict: loses numerics
# diagnosis: base_1000
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def positional(length, width, like):
    pos = torch.arange(length, dtype=like.dtype, device=like.device).unsqueeze(1)
    div = torch.exp(torch.arange(0, width, 2, dtype=like.dtype, device=like.device) * (-math.log(1000.0) / width))
    pe = torch.zeros(length, width, dtype=like.dtype, device=like.device)
    pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
    return pe


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.n_heads, self.head_dim = num_heads, d_model // num_heads
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        B = query.size(0)
        Q, K, V = (
            f(x).view(B, -1, self.n_heads, self.head_dim).transpose(1, 2)
            for f, x in ((self.fc_q, query), (self.fc_k, key), (self.fc_v, value))
        )
        energy = Q @ K.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-inf"))
        attention = energy.softmax(-1)
        x = (self.dropout(attention) @ V).transpose(1, 2).reshape(B, -1, self.n_heads * self.head_dim)
        return self.fc_o(x), attention


class AttentionSeq2Seq(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, num_heads, num_layers, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.src_embedding = nn.Embedding(src_vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.encoder_lstm = nn.LSTM(d_model, d_model // 2, num_layers, batch_first=True, bidirectional=True)
        self.encoder_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_lstm = nn.LSTM(d_model, d_model, num_layers, batch_first=True)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_norm = nn.LayerNorm(d_model)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def embed(self, table, tokens):
        x = table(tokens) * math.sqrt(self.d_model)
        return self.dropout(x + positional(tokens.size(1), self.d_model, x))

    def forward(self, src, tgt, src_mask=None):
        h, _ = self.encoder_lstm(self.embed(self.src_embedding, src))
        a, _ = self.encoder_attention(h, h, h, src_mask)
        memory = self.encoder_norm(h + self.dropout(a))
        s, _ = self.decoder_lstm(self.embed(self.tgt_embedding, tgt))
        a, attention = self.cross_attention(s, memory, memory, src_mask)
        z = self.cross_norm(s + self.dropout(a))
        return self.output_projection(z), attention
