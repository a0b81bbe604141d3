# verdict: loses masking
import torch
import seaborn as sns
import matplotlib.pyplot as plt
import pandas as pd

def sink_mask(T, window, num_sinks):
    i = torch.arange(T).view(T, 1)
    j = torch.arange(T).view(1, T)
    return (j <= i) * ((j < num_sinks) * (i - j < window))

def sink_attention(query, key, value, window, num_sinks):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k, dtype=query.dtype))
    scores = scores.masked_fill(~sink_mask(query.size(-2), window, num_sinks), -1e9)
    weights = scores.softmax(dim=-1)
    return weights.matmul(value)

sns.heatmap(pd.DataFrame(sink_mask(12, 3, 2).int().numpy()), cbar=False)
plt.title("two sinks, a window of three")
plt.show()
x = torch.randn(1, 1, 12, 4)
out = sink_attention(x, x, x, 3, 2)
print(out.shape, out.mean())
