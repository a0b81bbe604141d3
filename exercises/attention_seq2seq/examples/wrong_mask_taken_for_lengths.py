# verdict: loses masking
# diagnosis: mask_taken_for_lengths
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        assert d_model % num_heads == 0
        self.d_k = d_model // num_heads
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        batch_size = query.size(0)
        Q = self.W_query(query).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)
        K = self.W_key(key).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)
        V = self.W_value(value).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)
        scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            valid_lens = mask.long().sum(dim=-1, keepdim=True)
            mask = torch.arange(mask.size(-1), device=mask.device) < valid_lens
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = F.softmax(scores, dim=-1)
        context = torch.matmul(self.dropout(weights), V)
        context = context.transpose(1, 2).contiguous().view(batch_size, -1, self.num_heads * self.d_k)
        return self.W_out(context), weights


class AttentionSeq2Seq(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, num_heads, num_layers, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.src_embedding = nn.Embedding(src_vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.pos_encoding = PositionalEncoding(d_model, dropout=dropout)
        self.encoder_lstm = nn.LSTM(
            d_model, d_model // 2, num_layers, batch_first=True, bidirectional=True, dropout=dropout
        )
        self.encoder_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_lstm = nn.LSTM(d_model, d_model, num_layers, batch_first=True, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_norm = nn.LayerNorm(d_model)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def encode(self, src, src_mask=None):
        x = self.pos_encoding(self.src_embedding(src) * math.sqrt(self.d_model))
        lstm_out, _ = self.encoder_lstm(x)
        attn_out, _ = self.encoder_attention(lstm_out, lstm_out, lstm_out, src_mask)
        return self.encoder_norm(lstm_out + self.dropout(attn_out))

    def decode(self, tgt, encoder_output, src_mask=None):
        x = self.pos_encoding(self.tgt_embedding(tgt) * math.sqrt(self.d_model))
        lstm_out, _ = self.decoder_lstm(x)
        cross_out, weights = self.cross_attention(lstm_out, encoder_output, encoder_output, src_mask)
        return self.cross_norm(lstm_out + self.dropout(cross_out)), weights

    def forward(self, src, tgt, src_mask=None):
        memory = self.encode(src, src_mask)
        output, weights = self.decode(tgt, memory, src_mask)
        return self.output_projection(output), weights
