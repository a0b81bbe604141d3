# verdict: loses numerics
# diagnosis: hidden_scores_are_minus_ten_thousand
import torch


def local_attention(query, key, value, window):
    T = query.shape[2]
    outs = []
    for i, q in enumerate(query.unbind(2)):
        s = (key @ q.unsqueeze(-1)).squeeze(-1) / query.shape[-1] ** 0.5
        s = s.masked_fill((torch.arange(T) - i).abs() > window, -1e4)
        outs.append((s.softmax(-1).unsqueeze(2) @ value).squeeze(2))
    return torch.stack(outs, 2)
