"""Whether there is a GPU for workers, asked without waking it: this process must hold no context on it."""

from __future__ import annotations

from pathlib import Path

_CONTROL = Path("/dev/nvidiactl")


def may_be_there() -> bool:
    """Return whether there is a driver of NVIDIA's; needs no torch."""
    return _CONTROL.exists()


def there_is_a_gpu() -> bool:
    """Return whether torch can use a GPU of NVIDIA's.

    `device_count` asks the management library, as `is_available` does where PYTORCH_NVML_BASED_CUDA_CHECK is 1; the
    usual `is_available` would initialise the driver.
    """
    import torch  # here: the pages' process has none

    return may_be_there() and torch.version.cuda is not None and torch.cuda.device_count() > 0
