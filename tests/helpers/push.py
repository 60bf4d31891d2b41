"""The law of a constraint by its definition, from comparisons of all pairs in NumPy.

Only the gradient of the loss comes from the library. The numbers of the law are read from the core.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from basis import products, to_x
from cells import edges_of, grid, nested, range_of, within
from reference import bin_of

CORE = Path(__file__).parents[2] / "core" / "constraint"
NUMBER = {
    name: eval(value, {"__builtins__": {}})
    for file in ("tail.go", "state.go", "group.go", "start.go")
    for name, value in re.findall(
        r"^(?:const |\t)(\w+)\s*= ([\d./e ]+?)\s*(?://.*)?$", (CORE / file).read_text(), re.MULTILINE
    )
}
THRESHOLDS = int(NUMBER["thresholds"])
LOGIT = np.linspace(0, NUMBER["highest"], THRESHOLDS)  # of the rank of each threshold
OF_SCORE = 12, 32  # functions and cells
NEAR_BORDER = 1e-9  # what rounding may take of a rank
OF_MASSES = {1: (24, 32), 2: (5, 7), 3: (3, 4)}  # of each mass
MOST_CELLS = 5**3  # of all masses
MOST_OF_VARIABLES = 32  # cells of each variable, one after the other


def ranks(values, size):
    """The part of the size below each value, and half of the part that is equal; NaN for NaN."""
    size = np.where(np.isnan(values), 0, size)
    below = (values[None, :] < values[:, None]) @ size + 0.5 * (values[None, :] == values[:, None]) @ size
    return np.where(np.isnan(values), np.nan, below / size.sum())


def cell_of(rank, cells):
    """The cell of each rank; one that rounding leaves below a border is on it."""
    return np.minimum(np.floor(rank * cells + NEAR_BORDER), cells - 1)


def functions(rank, count, cells):
    """The cosines in the middle of the cell of each rank; for NaN the function 1 alone is not 0."""
    k = np.arange(count)
    middle = (cell_of(rank, cells) + 0.5) / cells
    found = np.where(k == 0, 1.0, np.sqrt(2) * np.cos(np.pi * np.outer(middle, k)))
    return np.where(np.isnan(rank)[:, None], k == 0, found)


def multiplied(rows):
    """The products of one function from each array, which has a row for each event."""
    found = np.ones((len(rows[0]), 1))
    for row in rows:
        found = (found[:, :, None] * row[:, None, :]).reshape(len(row), -1)
    return found


def bins_of(mass, options):
    """For each variable, or for all together: the bin of each event, -1 outside, and the polynomials of each event."""
    ranges = [range_of(own, options.get("mass_range")) for own in mass.T]
    inside = [within(own, limits) for own, limits in zip(mass.T, ranges, strict=True)]
    if options.get("joint"):
        views = [(np.all(inside, axis=0), range(mass.shape[1]))]
    else:
        views = [(own, [k]) for k, own in enumerate(inside) if own.any()]
    for there, variables in views:
        found, some = np.full(len(mass), -1), mass[there][:, list(variables)]
        limits = [ranges[k] for k in variables]
        if len(variables) > 1 and options["binning"] == "quantile":
            found[there] = nested(some, [options["bins"]] * len(limits), limits)
        elif len(variables) > 1:
            found[there] = grid(some, [edges_of(None, own, options) for own in limits])
        else:
            found[there] = bin_of(some[:, 0], edges_of(some[:, 0], limits[0], options))
        rows = products(options["order"], [to_x(own, of) for own, of in zip(some.T, limits, strict=True)])
        polynomials = np.zeros((len(mass), len(rows)))
        polynomials[there] = rows.T.astype(float)
        yield found, polynomials


@dataclass
class Group:
    """The background events of one label and category that take part, and the law for them."""

    grad: np.ndarray
    score: np.ndarray
    mass: np.ndarray  # a column for each variable
    weight: np.ndarray
    options: dict

    def balance(self):
        """The weights of the law, in each bin the part of its sum of weights, the mean of the variables."""
        self.views = list(bins_of(self.mass, self.options))
        parts, ratios, size = [], [], np.abs(self.weight)
        for bins, _ in self.views:
            count = bins.max() + 1
            sums = np.array([self.weight[bins == b].sum() for b in range(count)])
            means = np.array([size[bins == b].mean() for b in range(count)])
            parts.append(np.where(bins < 0, np.nan, self.weight / sums[bins] / count))
            ratios.append(
                np.where(bins < 0, np.nan, np.minimum(np.exp(2 * NUMBER["mostLevel"]), size.mean() / means[bins]))
            )
        self.omega = np.nanmean(parts, axis=0)
        self.lift = np.sqrt(np.nanmean(ratios, axis=0))  # of the gradient, where the weights are small
        self.total = size.sum()

    def scale(self, by):
        """Scales the weights of the law, after which the sum of their sizes is the total."""
        self.total *= by
        self.omega *= self.total / np.abs(self.omega).sum()

    def direct(self):
        """The ranks, and the direction of each event before it is smoothed."""
        size = np.abs(self.omega)
        self.rank = ranks(self.score, size)
        scaled = self.grad / np.sqrt(self.rank * (1 - self.rank))
        effective = int(size.sum() ** 2 / (size @ size) * (1 + 1e-12))
        parts = max(1, min(THRESHOLDS, effective // NUMBER["inRange"]))
        part = cell_of(self.rank, parts).astype(int)
        sums = [((scaled * np.sign(self.omega))[part == k].sum(), size[part == k].sum()) for k in range(parts)]
        mean = np.array([sum_of / size_of if size_of else 0 for sum_of, size_of in sums])
        self.direction = scaled - self.omega * mean[part]
        self.ranks_of_mass = [ranks(own, size) for own in self.mass.T]
        self.of_mass = multiplied([functions(own, *OF_MASSES[self.mass.shape[1]]) for own in self.ranks_of_mass])
        self.of_score = functions(self.rank, *OF_SCORE)

    def residual(self, unit):
        """The coefficients of the direction per weight."""
        return unit * (self.of_mass.T @ (self.direction[:, None] * self.of_score)) / self.total

    def tail(self):
        """The coefficients of the relative residual at each threshold, and of the allowed response."""
        found, response = np.zeros((2, self.of_mass.shape[1], THRESHOLDS))
        rank_of = 1 / (1 + np.exp(-LOGIT))
        for bins, polynomials in self.views:
            members = [bins == b for b in range(bins.max() + 1)]
            sums = np.array([self.weight[mine].sum() for mine in members])
            rows = np.array([self.weight[mine] @ polynomials[mine] for mine in members]) / sums[:, None]
            share = np.array([np.abs(self.omega[mine]) @ self.of_mass[mine] for mine in members]) / self.total
            for k, q in enumerate(rank_of):
                efficiency = (
                    np.array([self.weight[mine & (self.rank >= q - NEAR_BORDER)].sum() for mine in members]) / sums
                )
                allowed = rows @ np.linalg.lstsq(rows, 1 - efficiency, rcond=1e-12)[0]  # of the CDF
                found[:, k] += share.T @ (efficiency - 1 + allowed) / (1 - q) / len(self.views)
                response[:, k] += share.T @ (1 - allowed) / (1 - q) / len(self.views)
        return found, response

    def push(self, coefficients):
        """By logits, per size."""
        return self.omega * np.einsum("im,mk,ik->i", self.of_mass, coefficients, self.of_score)

    def cells_of(self, mass):
        """The cell of all masses: of each the cell of the next event of background, or the last for none in range."""
        cells, found = OF_MASSES[self.mass.shape[1]][1], np.zeros(len(mass), int)
        for own, rank, asked in zip(self.mass.T, self.ranks_of_mass, mass.T, strict=True):
            there = ~np.isnan(own)
            known, of = own[there], cell_of(rank[there], cells).astype(int)
            inside = within(asked, range_of(known, self.options.get("mass_range")))
            next_one = [of[known >= m][known[known >= m].argmin()] if (known >= m).any() else cells - 1 for m in asked]
            found = found * (cells + 1) + np.where(inside, next_one, cells)
        return found

    def in_cells(self):
        """The part of the weights of the law in each cell of the masses, and in each of a variable times its mean mass."""
        cells, variables = OF_MASSES[self.mass.shape[1]][1], self.mass.shape[1]
        size, of = np.abs(self.omega) / self.total, self.cells_of(self.mass)
        each = np.stack(np.unravel_index(of, [cells + 1] * variables))
        moments = [
            [size[cell == c] @ own[cell == c] for c in range(cells)]
            for cell, own in zip(each, self.mass.T, strict=True)
        ]
        return np.bincount(of, size, (cells + 1) ** variables), np.ravel(moments)

    def spectra(self, mass, weight):
        """The parts of the sizes of weights in each cell, of background and of signal with these masses."""
        cells = OF_MASSES[self.mass.shape[1]][1]
        inside = np.array(
            [
                within(own, range_of(of[~np.isnan(of)], self.options.get("mass_range")))
                for own, of in zip(mass.T, self.mass.T, strict=True)
            ]
        )
        chosen = inside.all(axis=0) if self.options.get("joint") else inside.any(axis=0)
        if not np.abs(weight[chosen]).sum():
            return None
        return [
            np.bincount(self.cells_of(m), w, (cells + 1) ** m.shape[1]) / np.abs(w).sum()
            for m, w in ((self.mass, self.weight), (mass[chosen], weight[chosen]))
        ]

    def multiplier(self, start, level, now):
        """What multiplies the gradient, by where it starts, v and what is added to v at once."""
        with np.errstate(divide="ignore"):
            y = np.log(self.rank / (1 - self.rank))
        rows = self.of_mass @ level + np.clip(self.of_mass @ now, -NUMBER["mostAtOnce"], NUMBER["mostAtOnce"])
        v = np.array([np.interp(own, LOGIT, row) for own, row in zip(y, rows, strict=True)])
        v = np.clip(v, -NUMBER["mostLevel"], NUMBER["mostLevel"])
        found = np.where(v > 0, start * np.exp(v), start + v * np.maximum(start, 1))
        with np.errstate(divide="ignore"):
            odds = 1 / self.score - 1
        return self.lift * np.where(found < 0, found * np.minimum(odds, 1), found)


def all_cells(variables):
    """The functions of the masses in each of their cells, also of those that are not known."""
    count, cells = OF_MASSES[variables]
    one = functions(np.append((np.arange(cells) + 0.5) / cells, np.nan), count, cells)
    where = np.meshgrid(*[np.arange(cells + 1)] * variables, indexing="ij")
    return multiplied([one[own.ravel()] for own in where])


def push(grad, score, mass, weight, **options):
    """The push of a factor 1 of the residual of one batch, in which all events take part, and the lift of the gradient."""
    group = Group(grad, score, mass, weight, {"binning": "quantile", **options})
    group.balance()
    group.scale(len(score) / group.total)
    group.direct()
    unit = np.sqrt(len(score)) / np.linalg.norm(group.direction)
    return group.push(group.residual(unit)), group.lift


def places(shares, masses, degree):
    """Legendre polynomials of degrees 1 and up of the mean mass in each cell, from -1 to 1, of each variable; 0 without it."""
    variables = next(v for v, (_, cells) in OF_MASSES.items() if (cells + 1) ** v == len(shares))
    cells, found = OF_MASSES[variables][1], []
    each = np.indices([cells + 1] * variables).reshape(variables, -1)
    for of, moments in zip(each, masses.reshape(variables, -1), strict=True):
        share = np.bincount(of, shares)[:cells]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = moments / share
        x = np.append(2 * (mean - np.nanmin(mean)) / np.ptp(mean[share > 0]) - 1, np.nan)[of]
        x = np.nan_to_num(x)
        found += [x, (3 * x**2 - 1) / 2][:degree]
    return np.array(found)


def tilted(start, background, polynomials):
    """start exp(a + b polynomials), with which background has its own means of 1 and of the polynomials."""
    background = background / background.sum()
    wanted = polynomials @ background

    centered, b = polynomials - wanted[:, None], np.zeros(len(wanted))
    for _ in range(200):  # Newton's method for all at once, with steps that are not too large
        tilt = background * start * np.exp(b @ centered)
        tilt /= tilt.sum()
        off = centered @ tilt
        step = np.linalg.lstsq((centered * tilt) @ centered.T - np.outer(off, off), off, rcond=1e-14)[0]
        b -= step * min(1, 0.5 / max(np.abs(step).max(), 1e-300))
    assert np.abs(off).max() < 1e-12
    tilt = start * np.exp(b @ polynomials)
    return tilt / (tilt @ background)


@dataclass
class Memory:
    """What a constraint remembers of one category of a label."""

    batches: float
    sum: np.ndarray
    level: np.ndarray
    now: np.ndarray
    recent: np.ndarray
    mean: np.ndarray
    allowed: np.ndarray  # the average of the allowed response, of as many events as the mean
    known: float = 0.0  # how many different events in effect are behind the mean
    noise: np.ndarray = field(default_factory=lambda: np.zeros(3))  # variances of recent and mean, and their covariance
    seen: float = 0.0  # events
    each: float = 0.0  # events of a batch
    shares: np.ndarray = field(
        default_factory=lambda: np.zeros(MOST_CELLS)
    )  # of the weights in the cells of the masses
    masses: np.ndarray = field(default_factory=lambda: np.zeros(MOST_OF_VARIABLES))  # there, times the share
    signals: float = 0.0  # batches with signal
    background: np.ndarray = field(default_factory=lambda: np.zeros(MOST_CELLS))  # in each cell of the masses
    signal: np.ndarray = field(default_factory=lambda: np.zeros(MOST_CELLS))
    moments: np.ndarray = field(default_factory=lambda: np.zeros(0))  # that an option bounds

    @classmethod
    def of(cls, variables):
        """Nothing."""
        count = OF_MASSES[variables][0] ** variables
        return cls(0.0, np.zeros((count, OF_SCORE[0])), *(np.zeros((count, THRESHOLDS)) for _ in range(5)))

    def learn_spectra(self, spectra):
        """Takes the spectra of a batch into the averages."""
        self.signals += 1
        for mean, own in zip((self.background, self.signal), spectra, strict=True):
            mean[: len(own)] += max(1 / self.signals, NUMBER["rate"]) * (own - mean[: len(own)])

    def start(self, group):
        """What the multiplier starts from: signal's share of itself over background's, with the moments that are free."""
        cells, options = group.cells_of(group.mass), group.options
        if not self.signals or self.signal.sum() <= 0 or self.background.sum() <= 0:
            return np.ones(len(cells))
        shares = [table / table.sum() for table in (self.background, self.signal)]
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.where(shares[0] > 0, shares[1].clip(0) / shares[0], 1)
        most, degree = np.exp(NUMBER["mostLevel"]), min(options.get("order", 0), 2)
        start = np.minimum(np.where(shares[0] > 0, (1 - NUMBER["floor"]) * r + NUMBER["floor"], 1), most)
        if degree and np.isinf(options.get("max_slope", np.inf)) and not options.get("monotonic"):
            of_batch = group.in_cells()
            seen = [own + mean[: len(own)] for own, mean in zip(of_batch, (self.shares, self.masses), strict=True)]
            start = tilted(start[: len(seen[0])], shares[0][: len(seen[0])].clip(0), places(*seen, degree))
            start = np.clip(start, NUMBER["floor"], most)
        return start[cells]

    def see(self, group):
        """Takes what a batch shows beside its residuals into the averages."""
        share, count = max(1 / self.batches, NUMBER["rate"]), len(group.score)
        for mean, own in zip((self.shares, self.masses), group.in_cells(), strict=True):
            mean[: len(own)] += share * (own - mean[: len(own)])
        self.each += share * (count - self.each)
        self.seen += count

    def significance(self, tolerance):
        """The part of each residual that counts: with a tolerance what a test with so many events sees."""
        known = min(self.known, tolerance or np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.fmax(0, 1 - NUMBER["doubt"] * np.exp(LOGIT) / known / self.mean**2)

    def learn_tail(self, r, response, batch, n, effective, different, tolerance, variables):
        """Takes a batch of n background events, in effect fewer, into v. The training has so many different events."""
        size = n / NUMBER["eventsOfABatch"]
        self.now += min(1, max(size / NUMBER["inNow"], 1 / batch)) * (r - self.now)
        recent = min(1, max(size / NUMBER["inRecent"], 1 / batch))
        self.recent += recent * (r - self.recent)
        share = max(min(size / NUMBER["inMean"], 1 / NUMBER["inRecent"]), 1 / batch)
        self.mean += share * (r - self.mean)
        self.allowed += share * (response - self.allowed)
        for k, (one, other) in enumerate([(recent, recent), (share, share), (recent, share)]):
            self.noise[k] = (1 - one) * (1 - other) * self.noise[k] + one * other / effective
        self.known = min(effective / share, different * effective / n)
        g = self.significance(tolerance)
        step = min(NUMBER["mostStep"], NUMBER["step"] * size / (1 + batch * size / NUMBER["slowAfter"]))
        self.level += step * (r * g - NUMBER["leakOfTail"] * (1 - g) * self.level)
        largest = np.abs(all_cells(variables) @ self.level).max(axis=0)
        self.level /= np.maximum(1, largest / NUMBER["mostLevel"])


@dataclass
class Law:
    """A constraint with its memory of each category of each background label."""

    variables: int
    tolerance: float = 0.0
    labels: int = 1
    categories: int = 0
    training: float = np.inf  # its background events
    numbers: np.ndarray = field(
        default_factory=lambda: np.zeros(8)
    )  # the averages, the factor, and the number of masses

    def __post_init__(self):
        self.memory = [Memory.of(self.variables) for _ in range(self.labels * max(1, self.categories))]

    def label_of(self, part):
        """The place of the background label of a part."""
        return part // max(1, self.categories)

    def direction(self, groups, loss, signal=None):
        """Push and multiplier of the events of each group, a list of pairs of part and Group.

        loss has the unbiased loss, its bias and the number of events. signal has masses and weights, by part.
        """
        n = sum(len(group.score) for _, group in groups)
        for _, group in groups:
            group.balance()
        total = sum(group.total for _, group in groups)
        for _, group in groups:
            group.scale(n / total)
            group.direct()
        norm = np.sqrt(sum(group.direction @ group.direction for _, group in groups))
        before = self.numbers[6] if self.numbers[0] else 1.0
        self.numbers[0] += 1
        self.numbers[7] = self.variables
        batch = self.numbers[0]  # of all parts
        seen = np.array([norm, *loss, loss[0] ** 2])
        known = ~np.isnan(seen)  # the bias of a batch may not be
        self.numbers[1:6][known] += max(1 / batch, NUMBER["rate"]) * (seen - self.numbers[1:6])[known]
        unit = np.sqrt(n) / max(norm, self.numbers[1])
        found = []
        for part, group in groups:
            memory, count = self.memory[part], len(group.score)
            alike = sum(len(other.score) for of, other in groups if self.label_of(of) == self.label_of(part))
            trusted = min(1, count / min(NUMBER["eventsOfABatch"], alike))
            spectra = group.spectra(*signal[part]) if signal and part in signal else None
            if spectra is not None:
                memory.learn_spectra(spectra)
            start = memory.start(group)
            found.append(
                (
                    np.sqrt(np.maximum(start, 1))
                    * group.push(trusted * NUMBER["proportional"] * before * group.residual(unit) + memory.sum),
                    group.multiplier(start, memory.level, memory.now * memory.significance(self.tolerance)),
                )
            )
        factor = before
        if self.tolerance:
            rho = self.numbers[2] * self.tolerance / (self.numbers[3] * self.numbers[4])
            factor = min(1, max(NUMBER["integral"], before * np.exp(NUMBER["integral"] * np.clip(rho - 1, -1, 1))))
        self.numbers[6] = factor
        for part, group in groups:
            memory, events = self.memory[part], len(group.score)
            of_label = sum(other.total for of, other in groups if self.label_of(of) == self.label_of(part))
            memory.batches += 1
            memory.sum *= 1 - NUMBER["integral"] * (1 - factor)
            gain = factor * NUMBER["integral"] * np.sqrt(events / NUMBER["eventsOfABatch"])
            memory.sum += gain * group.residual(unit) * of_label / n
            memory.see(group)
            effective = group.total**2 / (group.omega @ group.omega)
            different = self.training * events / n
            memory.learn_tail(
                *group.tail(), memory.batches, events, effective, different, self.tolerance, self.variables
            )
        return found

    def state(self):
        """The numbers as the core has them."""
        rooms = [1, 27 * OF_SCORE[0]] + 5 * [27 * THRESHOLDS] + [1, 3, 1, 1, MOST_CELLS, MOST_OF_VARIABLES]
        rooms += [1, MOST_CELLS, MOST_CELLS, 3 * 17 * THRESHOLDS]
        found = [[1.0], self.numbers, [float(self.categories)]]  # first the version
        for memory in self.memory:
            for room, table in zip(rooms, vars(memory).values(), strict=True):
                found += [np.ravel(table), np.zeros(room - np.size(table))]
        return np.concatenate(found)
