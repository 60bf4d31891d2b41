"""The loss by PyTorch's own operations beside the core: ``python -m bench.device``.

Forward and backward of ``mode_loss(order=1)`` with ``on_device=True``, as ratios to the same from the core, to
``torch.sort`` of the scores and to DisCo over all pairs (where these fit), timed in turns. On ``--device cuda`` the
core's time has the copies to the host and back in it, and each turn ends when the device is done.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import torch
from libmode.torch import mode_loss
from torch import Tensor

from .peers import disco_loss
from .timing import Timing, interleaved, sampler

PAIRS = 5_000  # events up to which DisCo's matrices are small


def calls(n: int, device: str) -> dict[str, Callable[[], object]]:
    """What is timed for n events."""
    torch.manual_seed(1)
    score = torch.rand(n, device=device)
    mass = 50 + 60 * torch.empty(n, device=device).exponential_()

    def both(loss: Callable[[Tensor], Tensor]) -> Tensor | None:
        leaf = score.detach().requires_grad_()
        loss(leaf).backward()
        if device != "cpu":
            torch.accelerator.synchronize()
        return leaf.grad

    def sort() -> object:
        found = torch.sort(score)
        if device != "cpu":
            torch.accelerator.synchronize()
        return found

    found: dict[str, Callable[[], object]] = {
        "device": partial(both, lambda s: mode_loss(s, mass, order=1, on_device=True)),
        "device, bounded": partial(both, lambda s: mode_loss(s, mass, order=1, max_slope=0.5, on_device=True)),
        "core": partial(both, lambda s: mode_loss(s, mass, order=1)),
        "core, bounded": partial(both, lambda s: mode_loss(s, mass, order=1, max_slope=0.5)),
        "sort": sort,
    }
    if n <= PAIRS:
        found["DisCo"] = partial(both, lambda s: disco_loss(s, mass, torch.ones_like(s)))
    return found


def table(times: dict[int, dict[str, Timing]]) -> str:
    """The times of the device form, and by how many times it takes longer than others."""
    lines = [
        f"{'n':>9} {'device [ms]':>12} {'/ core':>8} {'/ sort':>8} {'/ DisCo':>8} {'bounded [ms]':>13} {'/ core':>8}"
    ]
    for n, of in times.items():
        own, bounded = of["device"].median, of["device, bounded"].median
        disco = f"{own / of['DisCo'].median:8.2f}" if "DisCo" in of else f"{'':8}"
        lines.append(
            f"{n:>9,} {1e3 * own:>12.2f} {own / of['core'].median:>8.1f} {own / of['sort'].median:>8.1f} {disco} "
            f"{1e3 * bounded:>13.2f} {bounded / of['core, bounded'].median:>8.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="where the tensors lie, for instance cuda; cpu by default")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000], help="of events")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each size; 5 by default")
    given = parser.parse_args()
    name = torch.cuda.get_device_name() if given.device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    print(f"{given.device}: {name}, PyTorch {torch.__version__}")
    times = {}
    for n in given.sizes:
        samplers = {name: sampler(call) for name, call in calls(n, given.device).items()}
        times[n] = interleaved(samplers, given.seconds, limit=20.0, title=f"{n:,} events")
    print(table(times))


if __name__ == "__main__":
    main()
