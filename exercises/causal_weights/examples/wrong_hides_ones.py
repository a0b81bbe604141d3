# verdict: loses masking
# diagnosis: shows_only_the_future
import torch


def causal_attention_weights(scores, d_k):
    n = scores.size(-1)
    mask = torch.tril(torch.ones(n, n))
    scores = scores.masked_fill(mask == 1, float("-inf"))
    return (scores / d_k**0.5).softmax(dim=-1)
