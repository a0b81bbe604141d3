# verdict: full marks
import torch
def causal_attention_weights(attn_scores, d_k):
    context_length = attn_scores.shape[-1]
    mask = torch.triu(torch.ones(context_length, context_length), diagonal=1)
    masked = attn_scores.masked_fill(mask.bool(), -torch.inf)
    attn_weights = torch.softmax(masked / d_k**0.5, dim=-1)
    return attn_weights

torch.manual_seed(123)
print(causal_attention_weights(torch.randn(6, 6), 2))
