# verdict: loses shapes
# diagnosis: features_weighted_by_features
import torch

def simple_attention(x):
    scores = x.T @ x
    weights = torch.softmax(scores, dim=-1)
    context = x @ weights
    return context, weights
