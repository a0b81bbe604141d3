"""Trains the model of this lab and stores it beside this file.

Run it from the project's folder:

    .venv/bin/python -m exercises.attention_patterns.train

The same versions of torch and of this file give the same weights. Each head is given a job, and a readout of its own
that must do the job from nothing but what the head gathers: say the word before, the word after, the word itself, the
first word, or how often every word occurs. The model's own output learns to say the word after. The readouts are
thrown away; where a head must look to do its job stays in its weights.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from grader.exercise.labs.attention_patterns.lab import Reader, ReaderAttention

PLACE = Path(__file__).parent / "model.safetensors"
SIZES = {"vocab_size": 12, "width": 24, "num_heads": 3, "num_layers": 2, "time": 12}
JOBS = (("previous", "first", "self"), ("uniform", "next", "previous"))
SHORTEST, STEPS, BATCH, SEED = 7, 2500, 64, 7


def gathered(attention: ReaderAttention, x: Tensor, weights: Tensor) -> Tensor:
    """Return what each head gathers, (B, h, T, width / h)."""
    return weights @ attention.split(attention.W_value(x))


def cost(job: str, said: Tensor, tokens: Tensor) -> Tensor:
    """Return how badly a head's readout, (B, T, vocab_size), does its job."""
    if job == "uniform":
        counts = F.one_hot(tokens, said.shape[-1]).float().mean(dim=1, keepdim=True)
        return 40 * F.mse_loss(said, counts.expand_as(said))
    start, end = {"previous": (1, None), "next": (None, -1)}.get(job, (None, None))
    wanted = {
        "previous": tokens[:, :-1],
        "next": tokens[:, 1:],
        "self": tokens,
        "first": tokens[:, :1].expand_as(tokens),
    }[job]
    return F.cross_entropy(said[:, start:end].flatten(0, 1), wanted.flatten())


def train() -> Reader:
    """Return the trained model."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    model = Reader(**SIZES)
    width = SIZES["width"] // SIZES["num_heads"]
    readouts = nn.ModuleList(nn.Linear(width, SIZES["vocab_size"]) for jobs in JOBS for _ in jobs)
    optimiser = torch.optim.Adam([*model.parameters(), *readouts.parameters()], lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    heads: list[Tensor] = []
    for layer in model.layers:
        layer.attention.register_forward_hook(
            lambda attention, inputs, outputs: heads.extend(gathered(attention, inputs[0], outputs[1]).unbind(1))
        )
    for _ in range(STEPS):
        heads.clear()
        tokens = torch.randint(SIZES["vocab_size"], (BATCH, int(torch.randint(SHORTEST, SIZES["time"] + 1, ()))))
        loss = cost("next", model(tokens), tokens)
        for job, readout, head in zip((job for jobs in JOBS for job in jobs), readouts, heads, strict=True):
            loss = loss + cost(job, readout(head), tokens)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model


if __name__ == "__main__":
    save_file({name: value.detach().clone() for name, value in train().state_dict().items()}, PLACE)
