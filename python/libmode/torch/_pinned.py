"""Copies between a GPU and the host, through memory that the GPU itself reads; the host waits once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def on_host(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The tensors on the CPU."""
    found = [None if tensor is None else _copied(tensor.detach()) for tensor in tensors]
    for device in {tensor.device for tensor in tensors if tensor is not None and tensor.is_cuda}:
        torch.cuda.current_stream(device).synchronize()
    return found


def _copied(tensor: Tensor) -> Tensor:
    if not tensor.is_cuda:
        return tensor.cpu()
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)


def to_device(device: torch.device, *tensors: Tensor) -> list[Any]:
    """Tensors of the CPU on this device, for which the host does not wait."""
    if device.type != "cuda":
        return [tensor.to(device) for tensor in tensors]
    return [tensor.pin_memory().to(device, non_blocking=True) for tensor in tensors]


def fill(tensor: Tensor, values: Any) -> None:
    """Sets a tensor, for whose device the host does not wait, to numbers of the host."""
    if tensor.is_cpu:
        tensor.numpy()[:] = values
    else:
        tensor.copy_(*to_device(tensor.device, torch.tensor(values, dtype=tensor.dtype, device="cpu")))


def back_to(device: torch.device, kind: torch.dtype, values: Any) -> Tensor:
    """The same of an array or a tensor, which may be there already."""
    tensor = torch.as_tensor(values, dtype=kind)
    return tensor if tensor.device == device else to_device(device, tensor)[0]
