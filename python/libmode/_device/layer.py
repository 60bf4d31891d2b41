"""The kernels of the layer: after select, sort, add and fit of the loss come walk_and_rank, spread, smooth and learn.

The backward pass has two: size and push. docs/how-it-works.md has the law and its reasons; names and stages are those
of core/constraint. A small function of mass and score is a table with a row for each of 32 cells of the rank of the
mass, and products of such tables with the cosines are matrix products.

Triton passes Python's numbers to minimum and maximum in single precision, so the kernels use powers of two there, or 1.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]

from .loss import (
    COUNT,
    GOOD,
    HIGH,
    INVERSE,
    LOW,
    MOST,
    ROWS,
    SELECTED,
    SINGLE,
    SIZE,
    TO,
    TOTAL,
    at_place,
    launched,
    load_chunks,
    load_weights,
    sum_by_bin,
    walk,
)

#: Cells of a rank; cosines of the rank of the mass, in rows of 32, and of the score, in rows of 16; thresholds.
CELLS, OF_MASS, OF_SCORE, THRESHOLDS = (tl.constexpr(number) for number in (32, 24, 12, 16))
#: The most parts into which the events of a batch are divided where each makes a table of its own.
PARTS = tl.constexpr(512)
#: The step from one threshold to the next, in log(q/(1 - q)).
SPACING = tl.constexpr(7 / 15)
#: Places in the constants: the values of both sets of cosines, the ranks of the thresholds, strength and tolerance.
COSINES, RANKS, STRENGTH, TOLERANCE = (tl.constexpr(place) for place in (1024, 1536, 1552, 1553))

#: Rows of ``table`` after those of the loss: omega_i per weight, and the factor of the gradient.
OMEGA, LIFT = tl.constexpr(5), tl.constexpr(6)
#: Single numbers after those of the loss: the number of weights other than 0, and of effective events.
EVENTS, EFFECTIVE = tl.constexpr(3), tl.constexpr(4)
#: The sums of ``spread``: direction and |omega| of each of 16 ranges, two sums over the scores, and the marks seen.
RANGES, OF_RANGES, MEAN_PLACE, SLOPE, AGAIN = (tl.constexpr(place) for place in (16, 64, 32, 33, 34))

# Places in the state: core/constraint/state.go, tail.go and sample.go.
MEAN_NORM, MEAN_LOSS, MEAN_BIAS, MEAN_EVENTS, MEAN_SQUARE, FACTOR, MASSES, SUM = (
    tl.constexpr(place) for place in range(1, 9)
)
LEVEL, NOW, RECENT, MEAN, KNOWN, SEEN, AGAIN_SEEN, MARKS = (
    tl.constexpr(place) for place in (332, 764, 1196, 1628, 2060, 2061, 2062, 2063)
)


@triton.jit
def sum_chunks(sums, before, way, row, which, programs, NB: tl.constexpr):
    """One row of the sums of all chunks of an order: the sum before the last chunk, plus the last chunk's."""
    bin_, last = tl.arange(0, NB), programs - 1
    own = tl.load(sums + ((way * programs + last) * ROWS + row) * NB + bin_)
    return own + tl.load(before + (which * programs + last) * NB + bin_)


@triton.jit
def load_inverse(table, NB: tl.constexpr):
    """1/W_b of the merged bin of each bin; 0 after the last bin."""
    to = tl.load(table + TO * NB + tl.arange(0, NB)).to(tl.int32)
    return tl.load(table + INVERSE * NB + to, to < NB, 0.0)


@triton.jit
def rank(
    order, weight, places, sums, before, chunks, table, ranks, way, n, chunk, programs,
    WEIGHTED: tl.constexpr, NB: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Half of the rank of each event along one order: the fraction of |omega| before it, and half of its own.

    omega_i = w_i/W_b, scaled so that the mean of |omega| is 1. The second order has equal values the other way round,
    so both halves add up to the fraction below, plus half of the fraction at the same value.
    """
    program, lanes, bin_ = tl.program_id(0), tl.arange(0, WIDE), tl.arange(0, NB)
    selected = tl.load(table + SINGLE * NB + SELECTED).to(tl.int32)
    inverse, unit = load_inverse(table, NB), tl.max(load_chunks(chunks, 2, programs), 0)
    events = tl.sum(sum_chunks(sums, before, 3, COUNT, 8, programs, NB), 0)
    scale = events / tl.sum(sum_chunks(sums, before, 3, SIZE, 7, programs, NB) * inverse, 0)
    if (program == 0) & (way == 0):
        squares = tl.sum(tl.load(table + TOTAL * NB + bin_), 0)
        tl.store(table + OMEGA * NB + bin_, tl.load(table + INVERSE * NB + bin_) * scale)
        tl.store(table + SINGLE * NB + EVENTS, events)
        tl.store(table + SINGLE * NB + EFFECTIVE, events * events / (scale * scale * squares))
    below = tl.sum(tl.load(before + ((4 + way) * programs + program) * NB + bin_) * inverse, 0) * scale
    for first in range(program * chunk, tl.minimum(program * chunk + chunk, selected), WIDE):
        at = first + lanes
        here = at < tl.minimum(program * chunk + chunk, selected)
        event = at_place(order, way, at, here, selected, n)
        w = load_weights(weight, event, here, unit, WEIGHTED)
        of_bin = tl.load(table + TO * NB + tl.load(places + event, here, 0)).to(tl.int32)
        own = tl.abs(w) * tl.load(table + INVERSE * NB + of_bin) * scale
        tl.store(ranks + way * n + event, (below + tl.cumsum(own, 0) - own / 2) / (2 * events), here)
        below += tl.sum(own, 0)


@launched
def walk_and_rank(
    order, weight, places, sums, before, chunks, vectors, table, score, numbers, halves, results, ranks, n, chunk,
    programs,
    WEIGHTED: tl.constexpr, ORDER: tl.constexpr, UNBIASED: tl.constexpr, MEAN: tl.constexpr, LAYER: tl.constexpr,
    NB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The walk of the loss, and beside it the ranks along two orders of the scores and two of the masses."""
    if tl.program_id(1) < 2:
        walk(
            order, weight, places, before, chunks, vectors, table, score, numbers, halves, results, n, chunk, programs,
            WEIGHTED, ORDER, UNBIASED, MEAN, LAYER, NB, BLOCK,
        )  # fmt: skip
    else:
        rank(
            order, weight, places, sums, before, chunks, table, ranks, tl.program_id(1) - 2, n, chunk, programs,
            WEIGHTED, NB, BLOCK,
        )  # fmt: skip


@triton.jit
def load_ranks(ranks, row, at, here, n):
    """The rank of events among the scores (row 0) or masses (1), inside of 0 and 1."""
    q = tl.load(ranks + 2 * row * n + at, here, 0.0) + tl.load(ranks + (2 * row + 1) * n + at, here, 0.0)
    q = tl.maximum(tl.where(here, q, 0.5), 1.1102230246251565e-16)
    return 1 - tl.maximum(1 - q, 1.1102230246251565e-16)


@triton.jit
def find_cell(q, cells):
    """The number of a rank's cell. A rank that rounding leaves just below a border counts as on it."""
    return tl.minimum(tl.floor(q * cells + 1e-9), cells - 1).to(tl.int32)


@triton.jit
def taking_part(keys, weight, places, chunks, table, at, here, programs, WEIGHTED: tl.constexpr, NB: tl.constexpr):
    """Which events the law moves, namely the selected events with a weight; their omega and bins."""
    takes = tl.load(keys + at, here, float("inf")) < float("inf")
    w = load_weights(weight, at, takes, tl.max(load_chunks(chunks, 2, programs), 0), WEIGHTED)
    takes = takes & (w != 0)
    bin_ = tl.load(table + TO * NB + tl.load(places + at, takes, 0)).to(tl.int32)
    return takes, w * tl.load(table + OMEGA * NB + bin_), bin_


@triton.jit
def load_direction(halves, q, at, here, n):
    """The gradient of the loss over the noise of its working point, sqrt(q (1 - q))."""
    grad = tl.load(halves + at, here, 0.0) + tl.load(halves + n + at, here, 0.0)
    return grad / tl.sqrt(q * (1 - q))


@triton.jit
def number_of_ranges(table, NB: tl.constexpr):
    """The number of ranges of scores: 16, or fewer, so that each has 20 effective events."""
    effective = tl.load(table + SINGLE * NB + EFFECTIVE) * (1 + 1e-12)
    return tl.maximum(tl.minimum(tl.floor(tl.floor(effective) / 20), RANGES), 1)


@triton.jit
def mark(state, sorted_masses, table, k, NB: tl.constexpr):
    """64 masses of the first batch, which come again in each epoch; in the first batch, 64 of its own."""
    selected = tl.load(table + SINGLE * NB + SELECTED).to(tl.int64)
    own = tl.load(sorted_masses + (2 * k + 1) * selected // 128).to(tl.float64)
    return tl.where(tl.load(state + SEEN) == 0, own, tl.load(state + MARKS + k))


@launched
def spread(
    keys, in_order, weight, mass, places, sums, before, chunks, table, halves, ranks, numbers, state, of_ranges, n,
    part, programs, WEIGHTED: tl.constexpr, NB: tl.constexpr, MANY: tl.constexpr,
):  # fmt: skip
    """Adds up, for each range of scores, the direction with the sign of the weight, and |omega|.

    Also adds up |omega| (p - p_0) and |omega| p (1 - p), with p from 0 to 1 across the score range and p_0 at the
    lowest score, and counts the events whose mass is a mark. The first program also finds the lift of each bin: the
    root of the mean |w| of all events over the mean |w| of the bin. That ratio is at most 10^6.
    """
    program, ranges, sixty_four = tl.program_id(0), tl.arange(0, RANGES), tl.arange(0, 64)
    marks, count = mark(state, in_order + 2 * n, table, sixty_four, NB), number_of_ranges(table, NB)
    if program == 0:
        bin_ = tl.arange(0, NB)
        merged = tl.load(table + TO * NB + bin_).to(tl.int32)[:, None] == bin_[None, :]
        size = sum_by_bin(merged, sum_chunks(sums, before, 3, SIZE, 7, programs, NB))
        many = sum_by_bin(merged, sum_chunks(sums, before, 3, COUNT, 8, programs, NB))
        ratio = tl.minimum(tl.sum(size, 0) / tl.sum(many, 0) * many / size, 1e6)
        tl.store(table + LIFT * NB + bin_, tl.where(size > 0, tl.sqrt(ratio), 1.0))
    low, width = tl.load(numbers + LOW), tl.load(numbers + HIGH) - tl.load(numbers + LOW)
    lowest = (tl.load(in_order).to(tl.float64) - low) / width
    along, sizes = tl.zeros([RANGES], tl.float64), tl.zeros([RANGES], tl.float64)
    mean, slope, again = tl.zeros([MANY], tl.float64), tl.zeros([MANY], tl.float64), tl.zeros([MANY], tl.float64)
    end = tl.minimum(program * part + part, n)
    for first in range(program * part, end, MANY):
        at = first + tl.arange(0, MANY)
        takes, omega, _ = taking_part(keys, weight, places, chunks, table, at, at < end, programs, WEIGHTED, NB)
        q, size = load_ranks(ranks, 0, at, takes, n), tl.abs(omega)
        direction = load_direction(halves, q, at, takes, n)
        hot = (find_cell(q, count)[:, None] == ranges[None, :]) & takes[:, None]
        along += sum_by_bin(hot, tl.where(omega > 0, direction, -direction))
        sizes += sum_by_bin(hot, size)
        p = (tl.load(keys + at, takes, 0.0).to(tl.float64) - low) / width
        mean += tl.where(takes, size * (p - lowest), 0.0)
        slope += tl.where(takes, size * p * (1 - p), 0.0)
        m = tl.load(mass + at, takes, 0.0).to(tl.float64)
        known = tl.max((m[:, None] == marks[None, :]).to(tl.int32), 1) > 0
        again += tl.where(takes & known, 1.0, 0.0)
    tl.store(of_ranges + program * OF_RANGES + ranges, along)
    tl.store(of_ranges + program * OF_RANGES + RANGES + ranges, sizes)
    tl.store(of_ranges + program * OF_RANGES + MEAN_PLACE, tl.sum(mean, 0))
    tl.store(of_ranges + program * OF_RANGES + SLOPE, tl.sum(slope, 0))
    tl.store(of_ranges + program * OF_RANGES + AGAIN, tl.sum(again, 0))


@triton.jit
def sum_parts(numbers, place, parts, STRIDE: tl.constexpr):
    """The sum of a number over all parts."""
    lanes = tl.arange(0, PARTS)
    return tl.sum(tl.load(numbers + lanes * STRIDE + place, lanes < parts, 0.0), 0)


@launched
def smooth(
    keys, in_order, weight, places, chunks, table, halves, ranks, numbers, constants, of_ranges, grids, cdfs, shares,
    squares, n, part, programs, parts, WEIGHTED: tl.constexpr, NB: tl.constexpr, MANY: tl.constexpr,
):  # fmt: skip
    """Adds up the direction, less its mean per |omega| in each range, in cells of both ranks: grids (parts, 32, 32).

    Also F of each bin at the rank of each threshold, cdfs (parts, NB, 16); |omega| of each cell of the mass and each
    bin, shares (parts, 32, NB); and the sums of the squared direction and of |omega| (p - mean)^2. A sum by cell and
    bin is a product of two matrices: the cells of the events, and their bins.
    """
    program, ranges, cells, bins = tl.program_id(0), tl.arange(0, RANGES), tl.arange(0, CELLS), tl.arange(0, NB)
    every, lanes, count = tl.arange(0, PARTS), tl.arange(0, MANY), number_of_ranges(table, NB)
    here = (every < parts)[:, None]
    along = tl.sum(tl.load(of_ranges + every[:, None] * OF_RANGES + ranges[None, :], here, 0.0), 0)
    sizes = tl.sum(tl.load(of_ranges + every[:, None] * OF_RANGES + RANGES + ranges[None, :], here, 0.0), 0)
    means = tl.where(sizes > 0, along / sizes, 0.0)
    low, width = tl.load(numbers + LOW), tl.load(numbers + HIGH) - tl.load(numbers + LOW)
    lowest = (tl.load(in_order).to(tl.float64) - low) / width
    mean = sum_parts(of_ranges, MEAN_PLACE, parts, OF_RANGES) / tl.load(table + SINGLE * NB + EVENTS)
    threshold = tl.load(constants + RANKS + tl.arange(0, THRESHOLDS))
    grid, cdf = tl.zeros([CELLS, CELLS], tl.float64), tl.zeros([NB, THRESHOLDS], tl.float64)
    share = tl.zeros([CELLS, NB], tl.float64)
    norm, square = tl.zeros([MANY], tl.float64), tl.zeros([MANY], tl.float64)
    end = tl.minimum(program * part + part, n)
    for first in range(program * part, end, MANY):
        at = first + lanes
        takes, omega, bin_ = taking_part(keys, weight, places, chunks, table, at, at < end, programs, WEIGHTED, NB)
        q, of_mass, size = load_ranks(ranks, 0, at, takes, n), load_ranks(ranks, 1, at, takes, n), tl.abs(omega)
        of_range = find_cell(q, count)[:, None] == ranges[None, :]
        less = omega * tl.sum(tl.where(of_range, means[None, :], 0.0), 1)
        direction = tl.where(takes, load_direction(halves, q, at, takes, n) - less, 0.0)
        norm += direction * direction
        away = (tl.load(keys + at, takes, 0.0).to(tl.float64) - low) / width - lowest - mean
        square += tl.where(takes, size * away * away, 0.0)
        in_mass = cells[:, None] == find_cell(of_mass, CELLS)[None, :]
        in_score = tl.where(cells[None, :] == find_cell(q, CELLS)[:, None], 1.0, 0.0).to(tl.float64)
        step = omega * tl.load(table + INVERSE * NB + bin_) / tl.load(table + OMEGA * NB + bin_)
        in_bin = tl.where((bins[:, None] == bin_[None, :]) & takes[None, :], step[None, :], 0.0)
        below = tl.where(q[:, None] < threshold[None, :] - 1e-9, 1.0, 0.0).to(tl.float64)
        of_bin = tl.where(bin_[:, None] == bins[None, :], 1.0, 0.0).to(tl.float64)
        grid += tl.dot(tl.where(in_mass, direction[None, :], 0.0), in_score, out_dtype=tl.float64)
        cdf += tl.dot(in_bin, below, out_dtype=tl.float64)
        share += tl.dot(tl.where(in_mass & takes[None, :], size[None, :], 0.0), of_bin, out_dtype=tl.float64)
    thresholds = tl.arange(0, THRESHOLDS)
    tl.store(grids + (program * CELLS + cells[:, None]) * CELLS + cells[None, :], grid)
    tl.store(cdfs + (program * NB + bins[:, None]) * THRESHOLDS + thresholds[None, :], cdf)
    tl.store(shares + (program * CELLS + cells[:, None]) * NB + bins[None, :], share)
    tl.store(squares + 2 * program, tl.sum(norm, 0))
    tl.store(squares + 2 * program + 1, tl.sum(square, 0))


@triton.jit
def total(tables, parts, ROWS_: tl.constexpr, COLUMNS: tl.constexpr):
    """The sum of the tables of all parts."""
    AT_A_TIME: tl.constexpr = 8192 // (ROWS_ * COLUMNS)
    part, row, column = tl.arange(0, AT_A_TIME), tl.arange(0, ROWS_), tl.arange(0, COLUMNS)
    all_ = tl.zeros([AT_A_TIME, ROWS_, COLUMNS], tl.float64)
    for first in range(0, parts, AT_A_TIME):
        at = (first + part)[:, None, None]
        all_ += tl.load(tables + (at * ROWS_ + row[None, :, None]) * COLUMNS + column[None, None, :], at < parts, 0.0)
    return tl.sum(all_, 0)


@triton.jit
def significance(mean, known, tolerance, threshold):
    """1 - noise/mean^2, or 0. The noise of n known events, at most as many as the test has, is q/(2 (1 - q) n)."""
    events = tl.where(tolerance > 0, tl.minimum(known, tolerance), known)
    noise = (0.5 * threshold / ((1 - threshold) * events))[None, :]
    return tl.where(mean * mean > noise, 1 - noise / (mean * mean), 0.0)


@triton.jit
def follow(average, new, share, there):
    """An average after one more number, which has this share; the average as it was where no number is there."""
    return tl.where(there, average + share * (new - average), average)


@launched
def learn(
    in_order, table, vectors, results, constants, of_ranges, grids, cdfs, shares, squares, state, pushes, levels, there,
    shown, n, programs, parts,
    FIXED: tl.constexpr, ORDER: tl.constexpr, UNBIASED: tl.constexpr, NB: tl.constexpr,
):  # fmt: skip
    """The law, in one program: the push of each cell of mass and score, the levels v of each of the mass, the state.

    The residual r has the coefficients B' grid C sqrt(n)/(n norm) in the cosines B of the mass and C of the score. The
    push is omega B (4 f r + sum) C', and v is B level, plus B (significant average), from -0.5 to 0.5. A batch without
    a push leaves the state as it was. This program alone reads and writes the state, and reads it first.
    """
    cell, threshold_, bin_ = tl.arange(0, CELLS), tl.arange(0, THRESHOLDS), tl.arange(0, NB)
    of_mass = tl.load(constants + cell[:, None] * CELLS + cell[None, :])
    of_mass_t = tl.load(constants + cell[None, :] * CELLS + cell[:, None])
    of_score = tl.load(constants + COSINES + cell[:, None] * 16 + threshold_[None, :])
    of_score_t = tl.load(constants + COSINES + cell[None, :] * 16 + threshold_[:, None])
    threshold = tl.load(constants + RANKS + threshold_)
    strength, tolerance = tl.load(constants + STRENGTH), tl.load(constants + TOLERANCE)
    events, effective = tl.load(table + SINGLE * NB + EVENTS), tl.load(table + SINGLE * NB + EFFECTIVE)

    # The loss, without its bias, and the averages of the state.
    lanes = tl.arange(0, 2 * MOST)
    loss = tl.sum(tl.load(results + lanes, lanes < 2 * programs, 0.0), 0)
    bias = tl.sum(tl.load(results + 2 * MOST + lanes, lanes < 2 * programs, 0.0), 0)
    squared = tl.load(table + TOTAL * NB + bin_)
    bias = tl.where(tl.max(squared, 0) <= 1 / 1.05, bias, float("nan"))
    finite = loss - loss == 0
    if not UNBIASED:
        loss -= bias
    inverse = tl.load(table + INVERSE * NB + bin_)
    weights = tl.where(inverse != 0, 1 / inverse, 0.0)
    all_ = tl.sum(weights, 0)
    of_batch = all_ * all_ / tl.sum(weights * weights * squared, 0)
    norm = tl.sqrt(sum_parts(squares, 0, parts, 2))
    good = (tl.load(table + SINGLE * NB + GOOD) > 0) & finite & (norm - norm == 0) & (tl.abs(loss) < 1e154)
    batch = tl.load(state) + 1
    share = tl.maximum(200 / batch, 1.0) / 200
    mean_norm = follow(tl.load(state + MEAN_NORM), norm, share, True)
    mean_loss = follow(tl.load(state + MEAN_LOSS), loss, share, loss == loss)
    mean_bias = follow(tl.load(state + MEAN_BIAS), bias, share, bias == bias)
    mean_events = follow(tl.load(state + MEAN_EVENTS), of_batch, share, True)
    mean_square = follow(tl.load(state + MEAN_SQUARE), loss * loss, share, loss == loss)
    factor = tl.where(batch == 1, 1.0, tl.load(state + FACTOR))
    unit = tl.where(mean_norm > 1e-12, tl.sqrt(events) / tl.maximum(norm, mean_norm), 0.0)

    # The push and the levels of this batch.
    grid = total(grids, parts, CELLS, CELLS) * (unit / events)
    residual = tl.dot(tl.dot(of_mass_t, grid, out_dtype=tl.float64), of_score, out_dtype=tl.float64)
    of_sum = state + SUM + cell[:, None] * OF_SCORE + threshold_[None, :]
    in_sum = (cell[:, None] < OF_MASS) & (threshold_[None, :] < OF_SCORE)
    before = tl.load(of_sum, in_sum, 0.0)
    coefficients = before + 4 * factor * residual
    if FIXED:
        coefficients = strength * residual
    push = tl.dot(tl.dot(of_mass, coefficients, out_dtype=tl.float64), of_score_t, out_dtype=tl.float64)
    tl.store(pushes + cell[:, None] * CELLS + cell[None, :], push)
    of_table, in_table = state + cell[:, None] * THRESHOLDS + threshold_[None, :], cell[:, None] < OF_MASS
    level, now = tl.load(of_table + LEVEL, in_table, 0.0), tl.load(of_table + NOW, in_table, 0.0)
    mean, recent = tl.load(of_table + MEAN, in_table, 0.0), tl.load(of_table + RECENT, in_table, 0.0)
    at_once = now * significance(mean, tl.load(state + KNOWN), tolerance, threshold)
    at_once = tl.dot(of_mass, at_once, out_dtype=tl.float64)
    both = tl.minimum(tl.maximum(at_once, -0.5), 0.5) + tl.dot(of_mass, level, out_dtype=tl.float64)
    tl.store(levels + cell[:, None] * THRESHOLDS + threshold_[None, :], both)

    # The relative residual of the efficiency at each threshold: the part of the CDFs that no polynomial fits.
    of_bin = total(cdfs, parts, NB, THRESHOLDS)
    for k in tl.static_range(ORDER + 1):
        v = tl.load(vectors + k * NB + bin_)
        of_bin -= v[:, None] * tl.sum(v[:, None] * of_bin, 0)[None, :]
    functions = tl.dot(of_mass_t, total(shares, parts, CELLS, NB), out_dtype=tl.float64)
    tail = tl.dot(functions, of_bin, out_dtype=tl.float64) * (-1 / (events * (1 - threshold)))[None, :]

    # The number of different events, from how often the marks come.
    k = tl.arange(0, 64)
    seen, again = tl.load(state + SEEN), tl.load(state + AGAIN_SEEN)
    marks = mark(state, in_order + 2 * n, table, k, NB)
    distinct = (k == 0) | (marks != mark(state, in_order + 2 * n, table, tl.maximum(k - 1, 0), NB))
    marked = tl.sum(distinct.to(tl.float64), 0)
    again = tl.where(again < 0, again, again + sum_parts(of_ranges, AGAIN, parts, OF_RANGES))
    again = tl.where((seen == 0) & (again > 1.5 * marked), -1.0, again)
    seen += events
    different = tl.where(again > 0, seen * marked / again, float("inf"))

    # The next state.
    measured = (tolerance > 0) & (mean_bias * mean_events > 0)
    rho = mean_loss * tolerance / (mean_bias * mean_events)
    followed = factor * tl.exp(0.02 * tl.maximum(tl.minimum(rho - 1, 1.0), -1.0))
    factor = tl.where(measured, tl.minimum(tl.maximum(100 * followed, 1.0) / 100, 1.0), factor)
    size, first = events / 512, 1 / batch
    share = tl.maximum(tl.minimum(size / 10, 1.0) / 50, first)
    known = tl.minimum(effective / share, different * (effective / events))
    now += tl.minimum(tl.maximum(size / 5, first), 1.0) * (tail - now)
    recent += tl.minimum(tl.maximum(size / 50, first), 1.0) * (tail - recent)
    mean += share * (tail - mean)
    many = tl.where(good, OF_MASS, 0)  # rows of the tables that are written
    tl.debug_barrier()  # some threads have yet to read what others write below
    if not FIXED:
        after = (1 - 0.02 * (1 - factor)) * before + factor * 0.02 * tl.sqrt(size) * residual
        tl.store(of_sum, after, in_sum & (cell[:, None] < many))
        significant = significance(mean, known, tolerance, threshold)
        step = tl.minimum(size / 3 / (1 + batch * size / 5000), 1.0) / 100
        level += step * (tail * significant - 0.1 * (1 - significant) * level)
        largest = tl.max(tl.abs(tl.dot(of_mass, level, out_dtype=tl.float64)), 0)
        without = tl.sum(tl.where(cell[:, None] == 0, tl.abs(level), 0.0), 0)  # in the cell of a missing mass
        largest = tl.maximum(largest, without)
        level *= tl.where(largest > 5, 5 / largest, 1.0)[None, :]
        tl.store(of_table + LEVEL, level, cell[:, None] < many)
    tl.store(of_table + NOW, now, cell[:, None] < many)
    tl.store(of_table + RECENT, recent, cell[:, None] < many)
    tl.store(of_table + MEAN, mean, cell[:, None] < many)
    tl.store(state + KNOWN, known, good)
    tl.store(state + SEEN, seen, good)
    tl.store(state + AGAIN_SEEN, again, good)
    tl.store(state + MARKS + k, marks, k < tl.where(good, 64, 0))
    tl.store(state, batch, good)
    tl.store(state + MEAN_NORM, mean_norm, good)
    tl.store(state + MEAN_LOSS, mean_loss, good)
    tl.store(state + MEAN_BIAS, mean_bias, good)
    tl.store(state + MEAN_EVENTS, mean_events, good)
    tl.store(state + MEAN_SQUARE, mean_square, good)
    tl.store(state + FACTOR, factor, good)
    tl.store(state + MASSES, 1.0, good)

    # For the backward pass and the user: the standard deviation of the logits, from that of p and its mean slope.
    square, slope = sum_parts(squares, 1, parts, 2), sum_parts(of_ranges, SLOPE, parts, OF_RANGES)
    deviation = tl.where(square > 0, tl.minimum(tl.sqrt(square * events) / slope, 1.0), 0.0)
    tl.store(there, good.to(tl.float64))
    tl.store(there + 1, deviation / tl.sqrt(events))
    tl.store(shown, loss, good)


@triton.jit
def load_place(keys, numbers, at, takes):
    """The places of scores in their range, from 0 to 1, and the width of the range."""
    low, width = tl.load(numbers + LOW), tl.load(numbers + HIGH) - tl.load(numbers + LOW)
    return (tl.load(keys + at, takes, 0.0).to(tl.float64) - low) / width, width


@launched
def size(
    incoming, keys, weight, numbers, norms, n, chunk, WEIGHTED: tl.constexpr, LOGITS: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    """Adds up the squared incoming gradient by the logits over the moved events of each chunk."""
    program = tl.program_id(0)
    end, squares = tl.minimum(program * chunk + chunk, n), tl.zeros([WIDE], tl.float64)
    for first in range(program * chunk, end, WIDE):
        at = first + tl.arange(0, WIDE)
        takes = tl.load(keys + at, at < end, float("inf")) < float("inf")
        takes = takes & (load_weights(weight, at, takes, 1.0, WEIGHTED) != 0)
        grad = tl.load(incoming + at, takes, 0.0).to(tl.float64)
        if not LOGITS:
            p, width = load_place(keys, numbers, at, takes)
            grad *= tl.where(takes, p * (1 - p) * width, 0.0)
        squares += grad * grad
    tl.store(norms + program, tl.sum(squares, 0))


@launched
def push(
    incoming, outgoing, keys, weight, places, chunks, table, ranks, numbers, pushes, levels, there, shown, norms, n,
    chunk, programs,
    WEIGHTED: tl.constexpr, LOGITS: tl.constexpr, FIXED: tl.constexpr, NB: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """The gradient that goes on: lift multiplier G_i + sigma |G|/sqrt(n) omega_i u, per derivative of the score.

    The multiplier is exp(v) for v > 0, and 1 + v for v < 0; v is linear between two thresholds, and from -5 to 5.
    Events within 1e-6 of the ends of the score range get no push. A norm that a GradScaler made infinite counts as 0.
    """
    program = tl.program_id(0)
    good, end = tl.load(there) > 0, tl.minimum(program * chunk + chunk, n)
    norm = tl.sqrt(tl.sum(load_chunks(norms, 0, programs), 0))
    per_push = tl.load(there + 1) * tl.where(norm - norm == 0, norm, 0.0)
    if program == 0:
        tl.store(shown + 1, per_push, good)
    for first in range(program * chunk, end, WIDE):
        at = first + tl.arange(0, WIDE)
        here = at < tl.where(good, end, 0)
        takes, omega, bin_ = taking_part(keys, weight, places, chunks, table, at, here, programs, WEIGHTED, NB)
        q, of_mass = load_ranks(ranks, 0, at, takes, n), load_ranks(ranks, 1, at, takes, n)
        cell = find_cell(of_mass, CELLS)
        u = omega * tl.load(pushes + cell * CELLS + find_cell(q, CELLS), takes, 0.0)
        if not LOGITS:
            p, width = load_place(keys, numbers, at, takes)
            u = tl.where((p >= 1e-6) & (p <= 1 - 1e-6), u / (p * (1 - p) * width), 0.0)
        multiplier = tl.load(table + LIFT * NB + bin_)
        if not FIXED:
            y = tl.minimum(tl.maximum(tl.log(q / (1 - q)) / SPACING, 0.0), THRESHOLDS - 1)
            k = tl.minimum(y.to(tl.int32), THRESHOLDS - 2)
            row, part = levels + cell * THRESHOLDS + k, y - k
            v = tl.load(row, takes, 0.0) * (1 - part) + tl.load(row + 1, takes, 0.0) * part
            v = tl.minimum(tl.maximum(v, -5.0), 5.0)
            multiplier *= tl.where(v > 0, tl.exp(v), 1 + v)
        grad = tl.load(incoming + at, at < end, 0.0).to(tl.float64)
        tl.store(outgoing + at, tl.where(takes, multiplier * grad + per_push * u, grad), at < end)
