"""What several modules share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from .._bad_batches import SkipsBadBatches
from ._op import register
from ._tensors import state_type

M = TypeVar("M", bound="CoreModule")


#: The TypeError of a layer that counts background only, called without labels.
NO_LABELS = (
    "label is None, which would count signal as background: give the labels, or background_only=False if all events "
    "are to count"
)


def as_arguments(options: Mapping[str, Any], owner: object, defaults: Mapping[str, Any]) -> str:
    """The options, and the owner's attributes that differ from their defaults, as the arguments of a call."""
    others = {name: getattr(owner, name) for name in defaults}
    shown = {**options, **{name: value for name, value in others.items() if value != defaults[name]}}
    return ", ".join(f"{name}={value!r}" for name, value in shown.items())


class CoreModule(SkipsBadBatches, nn.Module):
    """A module whose numbers come from the core.

    The operators find it by its key. It may have one buffer, which stays in double precision if its device has doubles.
    """

    _name = ""  #: of the buffer

    def _hold(self, start: Any) -> None:
        """Makes the buffer from an array."""
        self.register_buffer(self._name, torch.from_numpy(start))

    def _remembered(self) -> Any:
        """The buffer as an array, which Keras saves; None without a buffer."""
        buffer = getattr(self, self._name, None)
        return None if buffer is None else buffer.numpy(force=True).copy()

    def _buffer(self) -> Tensor:
        """The buffer in double precision. FSDP may have made it float32; shorter types are an error."""
        buffer: Tensor = getattr(self, self._name)
        if torch.compiler.is_dynamo_compiling() or buffer.dtype is state_type(buffer.device):
            return buffer
        if buffer.dtype is not torch.float32:
            raise ValueError(
                f"{self._name} has {buffer.dtype}, which rounds it: give buffer_dtype=torch.float32 to MixedPrecision"
            )
        buffer.data = buffer.to(state_type(buffer.device))
        return buffer

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        # The buffer moves to the device, but keeps its digits.
        before = getattr(self, self._name, None)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if before is not None:
            device = getattr(self, self._name).device
            setattr(self, self._name, before.to(device, state_type(device)))
        return self

    def _register(self) -> None:
        """Gives the module a key of its own."""
        self.key = register(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._register()
