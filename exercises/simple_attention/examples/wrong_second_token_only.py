# verdict: loses shapes
# diagnosis: second_token_alone
# "Journey" is the query.
import torch


def simple_attention(inputs):
    query = inputs[1 % len(inputs)]
    attn_scores = torch.empty(inputs.shape[0], dtype=inputs.dtype)
    for i, x_i in enumerate(inputs):
        attn_scores[i] = torch.dot(x_i, query)
    attn_weights = torch.softmax(attn_scores, dim=0)
    context = torch.zeros(query.shape, dtype=inputs.dtype)
    for i, x_i in enumerate(inputs):
        context = context + attn_weights[i] * x_i
    return context, attn_weights
