# verdict: full marks
# Other argument names and random numbers, and a loop over the leading axes.
import torch


def draw(shape, rate):
    return torch.distributions.Bernoulli(probs=1.0 - rate).sample(shape)


def attention_dropout(attn, dropout, training=True):
    if not training:
        return attn
    flat = attn.reshape(-1, attn.shape[-1])
    rows = [row * draw(row.shape, dropout) for row in flat]
    kept = torch.stack(rows).reshape(attn.shape)
    return kept * (1.0 / (1.0 - dropout)) if dropout < 1 else kept
