# verdict: full marks
import math, torch
def causal_attention_weights(scores, d_k):
    T = scores.size(-1)
    M = torch.full((T, T), -math.inf, dtype=scores.dtype).triu(1)
    return (scores / math.sqrt(d_k) + M).softmax(-1)
