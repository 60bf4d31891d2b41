"""Properties of the network from the graph of its predictions."""

from __future__ import annotations

from typing import Any

from torch import Tensor

_MOST_NODES = 5_000
_DROPOUT = "NativeDropoutBackward0", "FusedDropoutBackward0"
_COLUMN = "SelectBackward0", "SliceBackward0", "SplitBackward0", "SplitWithSizesBackward0"
_SAME = "ViewBackward0", "ReshapeAliasBackward0", "SqueezeBackward1", "ToCopyBackward0", "AliasBackward0"


def has_dropout(score: Tensor) -> bool:
    """Whether the network has dropout. On CPUs it is a product with a tensor of 0 and one number above 1."""
    nodes, seen = [score.grad_fn], set[Any]()
    while nodes and len(seen) < _MOST_NODES:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name() in _DROPOUT or (node.name() == "MulBackward0" and _is_mask(node)):
            return True
        nodes.extend(one for one, _ in node.next_functions)
    return False


def _is_mask(product: Any) -> bool:
    mask = product._saved_other
    if not isinstance(mask, Tensor) or mask.numel() < 2:
        return False
    kept = mask.max()
    return bool((mask.min() == 0) & (kept > 1) & ((mask == 0) | (mask == kept)).all())


def is_one_of_several(score: Tensor) -> bool:
    """Whether the predictions are one column of several."""
    node: Any = score.grad_fn
    while node is not None and node.name() in (*_SAME, *_COLUMN):
        sizes: Any = getattr(node, "_saved_self_sym_sizes", ())
        if node.name() in _COLUMN and len(sizes) == 2 and sizes[1] > 1:
            return True
        node = next((one for one, _ in node.next_functions), None)
    return node is not None and node.name() == "UnbindBackward0"
