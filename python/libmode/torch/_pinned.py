"""Copies between a GPU and the host: all tensors of a call in one, through memory that the GPU itself reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def on_host(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The tensors on the CPU; of those that are on one GPU the host waits once for all."""
    away = [tensor for tensor in tensors if tensor is not None and tensor.is_cuda]
    if not away or len({tensor.device for tensor in away}) > 1:
        return [None if tensor is None else tensor.detach().cpu() for tensor in tensors]
    packed = pack(away)
    host = torch.empty(packed.shape, dtype=packed.dtype, pin_memory=True).copy_(packed, non_blocking=True)
    torch.cuda.current_stream(packed.device).synchronize()
    found = iter(unpack(host, away))
    return [next(found) if tensor is not None and tensor.is_cuda else tensor for tensor in tensors]


def to_device(device: torch.device, *tensors: Tensor) -> list[Any]:
    """Tensors of the CPU on this device, for which the host does not wait."""
    if device.type != "cuda":
        return [tensor.to(device) for tensor in tensors]
    return unpack(pack(tensors).pin_memory().to(device, non_blocking=True), tensors)


def back_to(device: torch.device, kind: torch.dtype, values: Any) -> Tensor:
    """The same of an array or a tensor, which may be there already."""
    tensor = torch.as_tensor(values, dtype=kind)
    on_it: Tensor = tensor if tensor.device == device else to_device(device, tensor)[0]
    return on_it


def pack(tensors: Sequence[Tensor]) -> Tensor:
    """The bytes of tensors one after the other, those of the largest elements first, so that each can be viewed."""
    return torch.cat([_bytes(tensor) for tensor in sorted(tensors, key=lambda tensor: -tensor.element_size())])


def unpack(packed: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of what was packed, of the types and shapes of these tensors."""
    start, found = 0, {}
    for k, tensor in sorted(enumerate(like), key=lambda pair: -pair[1].element_size()):
        size = tensor.numel() * tensor.element_size()
        found[k] = packed[start : start + size].view(tensor.dtype).view(tensor.shape)
        start += size
    return [found[k] for k in range(len(like))]


def _bytes(tensor: Tensor) -> Tensor:
    flat = tensor.detach().contiguous().view(-1)
    return flat.view(torch.uint8) if len(flat) else flat.new_empty(0, dtype=torch.uint8)
