"""The last events that a loss has seen."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .._front import Events


class History(nn.Module):
    """Keeps up to ``size`` events, without their graph.

    They are buffers: ``state_dict`` has them, and ``to(device)`` moves them.
    """

    score: Tensor | None
    mass: Tensor | None
    weight: Tensor | None
    label: Tensor | None
    category: Tensor | None

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        for name in Events._fields:
            self.register_buffer(name, None)

    def __len__(self) -> int:
        return 0 if self.score is None else len(self.score)

    def extra_repr(self) -> str:
        """How many events there are, and may be."""
        return f"{len(self)} of {self.size} events"

    def reset(self) -> None:
        """Forgets all events."""
        for name in Events._fields:
            setattr(self, name, None)

    def followed_by(self, batch: Events) -> Events:
        """The events kept and those of the batch; the gradient goes to the batch's scores."""
        if self.score is None or self.mass is None:
            return batch
        for name, plural in (("label", "labels"), ("category", "categories")):
            if (getattr(self, name) is None) != (getattr(batch, name) is None):
                raise ValueError(
                    f"the history has events with {plural}, and these have none, or the other way round: reset()"
                )
        if self.mass.shape[1:] != batch.mass.shape[1:]:
            raise ValueError(
                f"the history has events with mass of shape {tuple(self.mass.shape)}, and these have "
                f"{tuple(batch.mass.shape)}: reset()"
            )
        weight = None
        if self.weight is not None or batch.weight is not None:  # where they were not given they are 1
            kept = torch.ones_like(self.score) if self.weight is None else self.weight
            weight = _joined(kept, torch.ones_like(batch.score) if batch.weight is None else batch.weight)
        label, category = (
            None if kept is None or new is None else _joined(kept, new)
            for kept, new in ((self.label, batch.label), (self.category, batch.category))
        )
        return Events(_joined(self.score, batch.score), _joined(self.mass, batch.mass), weight, label, category)

    def remember(self, events: Events) -> None:
        """Keeps the last of these events instead of what was kept."""
        for name, values in events._asdict().items():
            # A clone: a slice would hold all of the memory that it is a part of.
            setattr(self, name, None if values is None else values.detach()[-self.size :].clone())

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        # The checkpoint may hold another number of events, and weights or none.
        device = None if self.score is None else self.score.device
        for name in Events._fields:
            saved = state.get(prefix + name)
            setattr(self, name, None if saved is None else torch.empty_like(saved, device=device))
        super()._load_from_state_dict(state, prefix, *rest)


def _joined(kept: Tensor, new: Tensor) -> Tensor:
    return torch.cat([kept.to(new.device), new])
