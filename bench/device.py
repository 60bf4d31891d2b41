"""Times the loss on a GPU by its kernels and by the core, and the layer: ``./build.sh bench device``.

Two tables. The time of forward and backward of ``MoDeLoss(order=1)`` for events with labels and weights, by the core
(with the copies both ways) and on the device, of ``MoDeConstraint(order=1)`` by the core, and of a sort of the scores.
And that of a training step of the paper's network and of a transformer of 2 million parameters: alone, with the
constraint by the core, and with the loss on the device. On a GPU also as CUDA graphs, where that can
be: the core cannot be captured.

There it first checks that the device finds what the core does, with several options and numbers of events, twice the
same bits, waits for nothing (torch.cuda.set_sync_debug_mode("error")), says what is wrong with a batch, and can be
captured and compiled. It takes some two minutes, of which the kernels' compilation is one. Without a GPU the core
alone is timed: a test of this program, whose times say nothing of a GPU. Writes what it ran on, and all times, to
build/bench/device.json; copied to bench/results and followed by ``python -m bench.summary`` they are those of
docs/scaling.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from libmode.torch import MoDeConstraint, MoDeLoss
from torch import Tensor, nn

from . import machine

Step = Callable[[], object]


class Timer:
    """Times steps on one device."""

    def __init__(self, device: torch.device, seconds: float) -> None:
        self.device, self.seconds = device, seconds

    def wait(self) -> None:
        """Waits until the device is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def milliseconds(self, step: Step) -> float:
        """The time of a step: the fastest of five rounds."""
        step()
        self.wait()
        once = self._of(step, 1)
        count = max(1, int(self.seconds / 5 / max(once, 1e-6)))
        return 1e3 * min(self._of(step, count) for _ in range(5))

    def _of(self, step: Step, count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            step()
        self.wait()
        return (time.perf_counter() - start) / count


def graph_of(step: Step) -> Step:
    """The step as a CUDA graph, after warm-up steps on another stream, as PyTorch's documentation demands."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


class Events:
    """Scores, labels, masses and weights on a device."""

    def __init__(self, n: int, device: torch.device, kind: torch.dtype = torch.float32, tied: bool = False) -> None:
        generator = torch.Generator().manual_seed(1)
        uniform = torch.rand(4, n, generator=generator, dtype=kind)
        if tied:
            uniform[0] = (uniform[0] * 20).floor() / 20
        self.score = uniform[0].to(device).requires_grad_()
        self.label = (uniform[1] < 0.5).to(device, kind)
        self.mass, self.weight = (50 - 60 * torch.log1p(-uniform[2:])).to(device)

    def step(self, module: nn.Module) -> Step:
        """Forward and backward of a loss, or of a layer before a cross entropy."""

        def of_layer() -> None:
            self.score.grad = None
            score = module(self.score, self.label, self.mass, self.weight)
            nn.functional.binary_cross_entropy(score, self.label, self.weight).backward()

        def of_loss() -> None:
            self.score.grad = None
            module(self.score, self.label, self.mass, self.weight).backward()

        return of_layer if isinstance(module, MoDeConstraint) else of_loss

    def gradient(self, step: Step) -> Tensor:
        """The gradient that a step gives the scores."""
        step()
        assert self.score.grad is not None
        return self.score.grad.clone()


class Transformer(nn.Module):
    """A network for 32 particles of 8 features: 4 layers of width 192, 2 million parameters."""

    features = (32, 8)

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(192, 8, 4 * 192, dropout=0.0, batch_first=True)
        self.parts = nn.Sequential(nn.Linear(8, 192), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False))
        self.last = nn.Linear(192, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Scores, (n, 1), of particles, (n, 32, 8)."""
        return torch.sigmoid(self.last(self.parts(x).mean(1)))


class Paper(nn.Sequential):
    """The paper's network of 10 features: 3 x 64 SiLU nodes."""

    features = (10,)

    def __init__(self) -> None:
        sizes = (10, 64, 64, 64)
        hidden = [part for k in range(3) for part in (nn.Linear(sizes[k], sizes[k + 1]), nn.SiLU())]
        super().__init__(*hidden, nn.Linear(64, 1), nn.Sigmoid())


def training(
    network: type[Paper] | type[Transformer],
    batch: int,
    device: torch.device,
    constraint: MoDeConstraint | None = None,
    mode: MoDeLoss | None = None,
) -> Step:
    """A training step: forward, cross entropy, backward and Adam; with a constraint or a loss."""
    torch.manual_seed(1)
    events, model = Events(batch, device), network().to(device)
    x = torch.randn(batch, *network.features).to(device)
    capturable = device.type == "cuda"
    optimizer = torch.optim.Adam(model.parameters(), capturable=capturable)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        score = model(x)[:, 0]
        if constraint is not None:
            score = constraint(score, events.label, events.mass, events.weight)
        total = nn.functional.binary_cross_entropy(score, events.label, events.weight)
        if mode is not None:
            total = total + 100 * mode(score, events.label, events.mass, events.weight)
        total.backward()
        optimizer.step()

    return step


#: Options and numbers of events that are compared with the core.
COMPARED = [
    ({"order": 1}, (40, 512, 8_192, 100_000, 1_000_000)),
    ({"order": 3, "unbiased": False, "reduction": "sum"}, (1_000, 100_000)),
    ({"order": 2, "bins": 50, "mass_range": (60.0, 200.0)}, (10_000,)),
    ({"order": 0, "edges": [50.0, 70.0, 100.0, 200.0, 2000.0]}, (10_000,)),
]


def agreement(device: torch.device, compared: list[tuple[dict[str, Any], tuple[int, ...]]]) -> float:
    """How far gradients in float64 are from the core's, per largest element; raises where they are too far."""
    worst = 0.0
    for options, sizes in compared:
        of_core, of_device = (MoDeLoss(monitor=False, on_device=choice, **options) for choice in (False, True))
        for n, kind, tied in product(sizes, (torch.float64, torch.float32), (False, True)):
            events = Events(n, device, kind, tied)
            expected, *twice = (events.gradient(events.step(of)) for of in (of_core, of_device, of_device))
            where = f"{options}, {n:,} events, {kind}, tied {tied}"
            assert torch.equal(*twice), f"two runs differ: {where}"
            apart = float((twice[0] - expected).abs().max() / expected.abs().max())
            assert apart < (1e-9 if kind is torch.float64 else 1e-5), f"{apart:.1e} from the core: {where}"
            worst = max(worst, apart if kind is torch.float64 else 0.0)
    return worst


def checks(device: torch.device) -> list[str]:
    """Checks what must hold on a GPU. Returns lines of results, or raises."""
    if device.type != "cuda":
        return [
            "not checked, for want of a GPU: that kernels agree with the core, wait for nothing, and can be captured"
        ]
    worst = agreement(device, COMPARED)
    events, mode = Events(100_000, device), MoDeLoss(order=1, on_device=True)
    step = events.step(mode)
    expected = events.gradient(step)
    torch.cuda.set_sync_debug_mode("error")
    step()
    torch.cuda.set_sync_debug_mode("default")
    compiled = torch.compile(mode, fullgraph=True, backend="aot_eager")
    for other in (graph_of(step), events.step(compiled)):
        assert torch.equal(events.gradient(other), expected)
    few, skips = Events(4, device), MoDeLoss(order=1, on_device=True, on_bad_batch="skip")
    assert not few.gradient(few.step(skips)).any()
    return [
        f"gradients are those of the core to {worst:.0e} of their largest element in float64, twice the same bits",
        "a step waits for nothing, and is the same as a CUDA graph and compiled; a bad batch is skipped",
    ]


def of_events(sizes: list[int], timer: Timer) -> list[dict[str, Any]]:
    """Rows of times in ms, by the number of events."""
    rows = []
    for n in sizes:
        events, row = Events(n, timer.device), {"events": n}
        row["loss, core"] = timer.milliseconds(events.step(MoDeLoss(order=1, monitor=False)))
        if timer.device.type == "cuda":
            of_device = events.step(MoDeLoss(order=1, on_device=True))
            row["loss, device"] = timer.milliseconds(of_device)
            row["loss, graph"] = timer.milliseconds(graph_of(of_device))
        row["layer, core"] = timer.milliseconds(events.step(MoDeConstraint(order=1, monitor=False).to(timer.device)))
        score = events.score.detach()
        row["sort"] = timer.milliseconds(lambda score=score: torch.sort(score))
        rows.append(row)
        show(row, first=len(rows) == 1)
    return rows


def of_steps(batches: list[int], timer: Timer) -> list[dict[str, Any]]:
    """Rows of times in ms of training steps."""
    rows = []
    for network in (Paper, Transformer):
        for batch in batches:
            row: dict[str, Any] = {"network": network.__name__, "batch": batch}
            without, of = training(network, batch, timer.device), partial(training, network, batch, timer.device)
            row["without"] = timer.milliseconds(without)
            if timer.device.type == "cuda":
                row["without, graph"] = timer.milliseconds(graph_of(without))
            row["layer, core"] = timer.milliseconds(of(constraint=MoDeConstraint(order=1).to(timer.device)))
            if timer.device.type == "cuda":
                step = of(mode=MoDeLoss(order=1, on_device=True))
                row["loss"], row["loss, graph"] = timer.milliseconds(step), timer.milliseconds(graph_of(step))
            rows.append(row)
            show(row, first=len(rows) == 1)
    return rows


def show(row: dict[str, Any], first: bool) -> None:
    """Prints a line of a table, with its head before the first one."""
    if first:
        print("\n| " + " | ".join(row) + " |  [ms]\n" + "|---" * len(row) + "|")
    cells = (
        f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
        for value in row.values()
    )
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        "./build.sh bench device", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=found, help=f"where the tensors lie; {found} by default, as it is here")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**k for k in range(3, 8)], help="numbers of events")
    parser.add_argument("--batches", type=int, nargs="+", default=[512, 4_096])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each time; 1 by default")
    parser.add_argument("--out", type=Path, default=Path("build/bench/device.json"))
    given = parser.parse_args()
    device = torch.device(given.device)
    gpu = device.type == "cuda"
    name = (
        torch.cuda.get_device_name(device)
        if gpu
        else f"no GPU: {machine.processor()}, {torch.get_num_threads()} threads"
    )
    about = {"device": name, "torch": torch.__version__, "cuda": torch.version.cuda if gpu else None}
    print(", ".join(f"{key} {value}" for key, value in about.items() if value))
    said = checks(device)
    print(*said, sep="\n")
    timer = Timer(device, given.seconds)
    results = {
        **about,
        "checks": said,
        "events": of_events(given.sizes, timer),
        "steps": of_steps(given.batches, timer),
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{given.out}")


if __name__ == "__main__":
    main()
