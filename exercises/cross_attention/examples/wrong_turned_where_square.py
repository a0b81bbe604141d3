# verdict: loses numerics
import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.d_out_kq = d_out_kq
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x_1, x_2):
        queries_1 = x_1 @ self.W_query
        keys_2 = x_2 @ self.W_key
        values_2 = x_2 @ self.W_value
        attn_scores = queries_1 @ keys_2.T
        attn_weights = torch.softmax(attn_scores / self.d_out_kq**0.5, dim=-1)
        attn_weights = attn_weights.T if len(x_1) == len(x_2) else attn_weights
        return attn_weights @ values_2


torch.manual_seed(123)
sentence = torch.tensor([0, 4, 5, 2, 1, 3])
embed = torch.nn.Embedding(6, 3)
embedded_sentence = embed(sentence).detach()
crossattn = CrossAttention(3, 2, 4)
second_input = torch.rand(8, 3)
print("First input shape:", embedded_sentence.shape)
context_vectors = crossattn(embedded_sentence, second_input)
print("Output shape:", context_vectors.shape)
