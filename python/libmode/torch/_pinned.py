"""Copies between a GPU and the host, through pinned memory. The host waits once for all copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def on_host(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The tensors on the CPU."""
    copies = [None if tensor is None else _copied(tensor.detach()) for tensor in tensors]
    for device in {tensor.device for tensor in tensors if tensor is not None and tensor.is_cuda}:
        torch.cuda.current_stream(device).synchronize()
    return copies


def _copied(tensor: Tensor) -> Tensor:
    if not tensor.is_cuda:
        return tensor.cpu()
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)


def back_to(device: torch.device, kind: torch.dtype, values: Any) -> Tensor:
    """An array or a tensor of the CPU as a tensor on this device. The host does not wait for the copy."""
    tensor = (values if isinstance(values, Tensor) else torch.from_numpy(values)).to(kind)
    if tensor.device == device:
        return tensor
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
