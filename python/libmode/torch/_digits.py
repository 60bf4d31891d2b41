"""A buffer that keeps its digits while the module changes its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ._op import state_type

M = TypeVar("M", bound="KeepsDigits")


class KeepsDigits(nn.Module):
    """A module whose buffer stays in double precision, if its device has doubles."""

    _name: str  #: of the buffer
    _digits: list[Any]  #: one array or tensor, its digits where nobody rounds them

    def _hold(self, start: Any) -> None:
        """Makes the buffer from an array."""
        self.register_buffer(self._name, torch.from_numpy(start))
        self._digits = [start]

    def _remembered(self) -> Any:
        """The buffer as an array, which Keras saves; None without a buffer."""
        buffer = getattr(self, self._name, None)
        return None if buffer is None else buffer.numpy(force=True).copy()

    def _keep(self) -> None:
        buffer = getattr(self, self._name, None)
        if buffer is not None:
            self._digits[0] = buffer.detach().clone()

    def _undo_rounding(self) -> Tensor:
        """The buffer, with its digits back after FSDP's MixedPrecision, which replaces buffers by rounded ones."""
        buffer: Tensor = getattr(self, self._name)
        kind = state_type(buffer.device)
        if buffer.dtype is kind:
            return buffer
        exact = torch.as_tensor(self._digits[0]).to(buffer.device)
        if not torch.equal(exact.to(buffer.dtype), buffer):
            raise ValueError(
                f"{self._name} has {buffer.dtype}, which rounds it: keep {kind}, for instance by leaving buffer_dtype "
                "out of MixedPrecision"
            )
        buffer.data = exact.to(kind, copy=True)
        return buffer

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._keep()

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        # The buffer moves to the device, but keeps its digits.
        before = getattr(self, self._name, None)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if before is not None:
            device = getattr(self, self._name).device
            setattr(self, self._name, before.to(device, state_type(device)))
            self._keep()
        return self
