# verdict: loses masking
# diagnosis: heads_share_the_patterns
import torch


def strided_attention(query, key, value, stride):
    d = torch.arange(query.size(2))[:, None] - torch.arange(query.size(2))
    outputs = []
    for h in range(query.size(1)):
        pattern = (d < stride) if h % 2 == 0 else (d % stride == 0)
        s = query[:, h] @ key[:, h].transpose(1, 2) / query.size(-1) ** 0.5
        outputs.append(s.masked_fill(~(pattern & (d >= 0)), -torch.inf).softmax(-1) @ value[:, h])
    return torch.stack(outputs, 1)
