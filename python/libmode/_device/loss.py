"""The kernels of the loss, in the order of a call: select, (torch.sort), add, count, add, fit, walk, finish.

A chunk of events is one program, which goes through it in blocks. Sums over chunks are added in their order, so that
two runs give the same bits. All numbers are in double precision. core/doc.go defines J and its bias.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]

# A last batch of another size needs no other machine code.
launched = triton.jit(do_not_specialize=["n", "chunk", "programs", "bins"])

#: The most chunks, and the rows of ``sums``: the sums of a bin.
MOST = tl.constexpr(1024)
ROWS = tl.constexpr(8)
#: The fewest effective events of a merged bin, and more than rounding takes away.
ENOUGH = tl.constexpr(1.05 * (1 + 1e-9))
W, SQUARE, COUNT, CUBE, POWERS = (tl.constexpr(row) for row in range(5))
#: Numbers that depend on the options, before the edges of bins.
LABEL, LOW, HIGH, MASS_LOW, MASS_HIGH, EDGES = (tl.constexpr(place) for place in range(6))
#: Rows of ``table``, with a column for each bin: its merged bin, 1/W_b, T_b, g_b. The last row has single numbers.
TO, INVERSE, TOTAL, BIAS, SINGLE = (tl.constexpr(row) for row in range(5))
#: Single numbers: whether the batch has a loss, the number of bins, the number of selected events.
GOOD, BINS, SELECTED = (tl.constexpr(place) for place in range(3))


@launched
def select(
    score, mass, weight, label, numbers, keys, chunks, n, chunk,
    WEIGHTED: tl.constexpr, LABELLED: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Writes the keys (3, n) for the sort, s, -s and m. An event that takes no part has inf.

    An event takes part if it has the label, and a mass inside of the limits. ``chunks`` (3, MOST) gets three numbers of
    each chunk: the events that take part, the events with a bad value, and the largest |w|. A value is bad if it is not
    finite, or a score outside of its range. A label that is NaN is bad too.
    """
    program, lanes = tl.program_id(0), tl.arange(0, WIDE)
    count, bad = tl.zeros([WIDE], tl.float64), tl.zeros([WIDE], tl.float64)
    largest, end = tl.zeros([WIDE], tl.float64), tl.minimum(program * chunk + chunk, n)
    for first in range(program * chunk, end, WIDE):
        at = first + lanes
        here = at < end
        takes = here
        s = tl.load(score + at, takes, 0.0).to(tl.float64)
        m = tl.load(mass + at, takes, 0.0).to(tl.float64)
        w = load_weights(weight, at, takes, 1.0, WEIGHTED)
        finite = (s - s == 0) & (w - w == 0)
        if LABELLED:
            of_event = tl.load(label + at, takes, 0).to(tl.float64)
            bad += tl.where(of_event == of_event, 0.0, 1.0)  # NaN may be any label
            takes = takes & (of_event == tl.load(numbers + LABEL))
        outside = (m < tl.load(numbers + MASS_LOW)) | (m > tl.load(numbers + MASS_HIGH))
        takes = takes & ~(outside & finite)
        good = takes & finite & (m - m == 0) & (s >= tl.load(numbers + LOW)) & (s <= tl.load(numbers + HIGH))
        tl.store(keys + at, tl.where(good, s, float("inf")), here)
        tl.store(keys + n + at, tl.where(good, -s, float("inf")), here)
        tl.store(keys + 2 * n + at, tl.where(good, m, float("inf")), here)
        count += tl.where(good, 1.0, 0.0)
        bad += tl.where(takes & ~good, 1.0, 0.0)
        largest = tl.maximum(largest, tl.where(good, tl.abs(w), 0.0))
    tl.store(chunks + program, tl.sum(count, 0))
    tl.store(chunks + MOST + program, tl.sum(bad, 0))
    tl.store(chunks + 2 * MOST + program, tl.max(largest, 0))


@triton.jit
def load_chunks(chunks, row, programs):
    """A row of ``chunks``: one number a chunk, and zeros in the places after the last chunk."""
    lanes = tl.arange(0, MOST)
    return tl.load(chunks + row * MOST + lanes, lanes < programs, 0.0)


@triton.jit
def number_of_bins(chunks, selected, bins, MERGES: tl.constexpr, COUNTED: tl.constexpr, ORDER: tl.constexpr):
    """The number of bins before any are merged: ``bins``, or fewer, so that each has at least 8 (effective) events."""
    most = tl.minimum(selected // 8, bins)
    if COUNTED:
        most = tl.minimum(most, tl.load(chunks + 3 * MOST).to(tl.int64))
    return tl.maximum(most, ORDER + 2) if MERGES else bins


@launched
def count(sums, chunks, programs, NB: tl.constexpr):
    """Writes the number of bins that effective events, sums of W_b^2/sum w^2, are enough for into ``chunks``."""
    all_ = totals(sums, programs, NB)
    w, square = pick_row(all_, W), pick_row(all_, SQUARE)
    effective = tl.sum(tl.where(square > 0, w * w / tl.where(square > 0, square, 1.0), 0.0), 0)
    tl.store(chunks + 3 * MOST, tl.floor(effective / 8 * (1 + 1e-9)))


@triton.jit
def at_place(order, way, at, here, selected, n):
    """The events at these places of an order. Odd orders are sorted from the highest value on."""
    return tl.load(order + way * n + tl.where(way % 2 == 0, at, selected - 1 - at), here, 0)


@triton.jit
def load_weights(weight, event, here, unit, WEIGHTED: tl.constexpr):
    """The weights of events over a unit, or 1 without weights; 0 for lanes without an event."""
    if WEIGHTED:
        return tl.load(weight + event, here, 0.0).to(tl.float64) / unit
    else:
        return tl.where(here, 1.0, 0.0).to(tl.float64)


@launched
def add(
    keys, order, mass, weight, numbers, chunks, places, sums, n, chunk, programs, bins,
    WEIGHTED: tl.constexpr, HAS_EDGES: tl.constexpr, MERGES: tl.constexpr, COUNTED: tl.constexpr, ORDER: tl.constexpr,
    NB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Finds the bins, and adds up the events of each chunk of each order by bin: sums (2, programs, ROWS, NB).

    Bin b begins with the mass of rank floor(b n/bins) in order, or at a given edge. The sums add up w,
    w^2, 1, w^3, w x, w x^2, ..., with x from 0 to 1 across the masses, and w per largest |w|. ``places`` gets the bin
    of each event. Both orders have the scores from the lowest on, and differ in the order of equal scores.
    """
    program, way, lanes, bin_ = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK), tl.arange(0, NB)
    selected = tl.sum(load_chunks(chunks, 0, programs), 0).to(tl.int64)
    bins = number_of_bins(chunks, selected, bins, MERGES, COUNTED, ORDER)
    inner = (bin_ > 0) & (bin_ < bins)
    if HAS_EDGES:
        edge = tl.load(numbers + EDGES + bin_, inner, float("inf"))
    else:
        edge = tl.load(keys + 2 * n + bin_ * selected // bins, inner, float("inf")).to(tl.float64)
    lowest = tl.load(keys + 2 * n).to(tl.float64)
    width = tl.load(keys + 2 * n + tl.maximum(selected - 1, 0)).to(tl.float64) - lowest
    unit, row = tl.max(load_chunks(chunks, 2, programs), 0), tl.arange(0, ROWS)
    all_ = tl.zeros([ROWS, NB], tl.float64)
    for first in range(program * chunk, tl.minimum(program * chunk + chunk, selected), BLOCK):
        at = first + lanes
        here = at < selected
        event = at_place(order, way, at, here, selected, n)
        m = tl.load(mass + event, here, 0.0).to(tl.float64)
        w = load_weights(weight, event, here, unit, WEIGHTED)
        place = tl.sum((edge[None, :] <= m[:, None]).to(tl.int32), 1)
        if way == 0:
            tl.store(places + event, place, here)
        hot = (place[:, None] == bin_[None, :]) & here[:, None]
        x, power = tl.where(width > 0, (m - lowest) / width, 0.0), w
        all_ += in_row(row == W, hot, w)
        all_ += in_row(row == SQUARE, hot, w * w)
        if way == 0:  # the other rows are for totals alone
            all_ += in_row(row == COUNT, hot, tl.where(here, 1.0, 0.0))
            all_ += in_row(row == CUBE, hot, w * w * w)
            for k in tl.static_range(ORDER):
                power = power * x
                all_ += in_row(row == POWERS + k, hot, power)
    tl.store(sums + ((way * programs + program) * ROWS + row[:, None]) * NB + bin_[None, :], all_)


@triton.jit
def in_row(row, hot, values):
    """One row of (ROWS, NB) with the sums of values over the events of each bin."""
    return tl.where(row[:, None], sum_by_bin(hot, values)[None, :], 0.0)


@triton.jit
def sum_by_bin(hot, values):
    """The sums of values over the events of each bin; ``hot`` says which bin an event has."""
    return tl.sum(tl.where(hot, values[:, None], 0.0), 0)


@triton.jit
def totals(sums, programs, NB: tl.constexpr):
    """The sums of all chunks of the first order, (ROWS, NB)."""
    AT_A_TIME: tl.constexpr = 4096 // (ROWS * NB)
    chunk, row, bin_ = tl.arange(0, AT_A_TIME), tl.arange(0, ROWS), tl.arange(0, NB)
    all_ = tl.zeros([AT_A_TIME, ROWS, NB], tl.float64)
    for first in range(0, programs, AT_A_TIME):
        here = (first + chunk < programs)[:, None, None]
        all_ += tl.load(sums + ((first + chunk)[:, None, None] * ROWS + row[None, :, None]) * NB + bin_, here, 0.0)
    return tl.sum(all_, 0)


@triton.jit
def scan(sums, before, programs, NB: tl.constexpr):
    """Adds up one row of sums (programs, ROWS, NB) over the chunks before each chunk: (programs, NB)."""
    AT_A_TIME: tl.constexpr = 4096 // NB
    chunk, bin_ = tl.arange(0, AT_A_TIME), tl.arange(0, NB)[None, :]
    all_ = tl.zeros([NB], tl.float64)
    for first in range(0, programs, AT_A_TIME):
        at = (first + chunk)[:, None]
        own = tl.load(sums + at * ROWS * NB + bin_, at < programs, 0.0)
        tl.store(before + at * NB + bin_, all_[None, :] + tl.cumsum(own, 0) - own, at < programs)
        all_ += tl.sum(own, 0)


@triton.jit
def pick_row(all_, row):
    """One row of (ROWS, NB)."""
    return tl.sum(tl.where((tl.arange(0, ROWS) == row)[:, None], all_, 0.0), 0)


@triton.jit
def is_enough(w, square, ENOUGH: tl.constexpr):
    """Whether bins have enough effective events, W^2/sum w^2, and a positive W, apart from rounding errors."""
    return (w > 1e-12 * tl.sqrt(square)) & (w * w * (1 + 2e-12) >= ENOUGH * square)


@triton.jit
def begins(w, square, bins, ENOUGH: tl.constexpr, NB: tl.constexpr):
    """Which bins begin a merged bin. Neighbors are merged until they have enough events.

    From the lowest mass on, a merged bin ends where it has enough. The rest joins the last merged bin, which joins the
    bin before it if both have too few together.
    """
    bin_ = tl.arange(0, NB)
    start, inside = bin_ == 0, bin_ < bins
    sum_, squares, ends = tl.zeros([NB], tl.float64), tl.zeros([NB], tl.float64), bin_ < 0
    few = tl.sum((inside & ~is_enough(w, square, ENOUGH)).to(tl.int32), 0)
    for b in range(0, tl.where(few > 0, bins, 0)):
        sum_ += tl.sum(tl.where(bin_ == b, w, 0.0), 0)
        squares += tl.sum(tl.where(bin_ == b, square, 0.0), 0)
        ends = is_enough(sum_, squares, ENOUGH)  # all elements are alike
        start = start | (ends & (bin_ == b + 1))
        sum_, squares = tl.where(ends, 0.0, sum_), tl.where(ends, 0.0, squares)
    rest = is_enough(tl.cumsum(w, 0, reverse=True), tl.cumsum(square, 0, reverse=True), ENOUGH)
    last = tl.max(tl.where(start & inside & (rest | ends), bin_, 0), 0)
    return inside & (few == 0) | start & inside & (bin_ <= last)


@launched
def fit(
    sums, before, chunks, vectors, table, programs, bins,
    HAS_EDGES: tl.constexpr, MERGES: tl.constexpr, COUNTED: tl.constexpr, ORDER: tl.constexpr, UNBIASED: tl.constexpr,
    NB: tl.constexpr,
):  # fmt: skip
    """Merges bins, and finds the vectors v_k of J = F'F - sum_k (v_k'F)^2. Other programs scan, each one row of sums.

    They span the polynomials of the mass, so J is the part of F that no polynomial fits. M = 1 - sum_k v_k v_k' begins
    as the unit matrix. Each power p of the mass, averaged in each bin, from 1 on, adds v = M p/|M p|. The bias is the
    sum over the bins of g_b [S_b (1 - 2 F_b) + F_b^2 T_b], g_b = M_bb/(1 - 2 U_b/T_b + T_b), where S_b is the sum of
    the squared steps w/W_b up to a score, and T_b and U_b are the sums of all squares and cubes:
    core/internal/loss/variance.go.
    """
    if tl.program_id(0) > 0:  # W and SQUARE of two orders
        which = tl.program_id(0) - 1
        row = which // 2 * programs * ROWS + which % 2
        scan(sums + row * NB, before + which * programs * NB, programs, NB)
        return
    all_, bin_ = totals(sums, programs, NB), tl.arange(0, NB)
    selected = tl.sum(load_chunks(chunks, 0, programs), 0).to(tl.int64)
    asked = number_of_bins(chunks, selected, bins, MERGES, COUNTED, ORDER)
    w, square = pick_row(all_, W), pick_row(all_, SQUARE)
    if MERGES:
        start = begins(w, square, asked, ENOUGH, NB)
        if tl.sum(start.to(tl.int32), 0) < ORDER + 2:
            start = begins(w, square, asked, 0, NB)
    elif HAS_EDGES:
        start = bin_ < asked
    else:  # a rank among equal masses makes no bin
        start = pick_row(all_, COUNT) > 0
    count = tl.sum(start.to(tl.int32), 0)
    to = tl.where(bin_ < asked, tl.maximum(tl.cumsum(start.to(tl.int32), 0) - 1, 0), NB)
    hot, real = to[:, None] == bin_[None, :], bin_ < count
    w = sum_by_bin(hot, w)
    inverse = tl.where(real, 1 / w, 0.0)
    square = sum_by_bin(hot, square) * inverse * inverse
    cube = sum_by_bin(hot, pick_row(all_, CUBE)) * inverse * inverse * inverse
    good = (tl.sum(load_chunks(chunks, 1, programs), 0) == 0) & (count >= ORDER + (2 if MERGES else 1))
    if not HAS_EDGES:
        good = good & (selected >= asked)
    good = good & (tl.sum((real & ~((w > 0) & (inverse - inverse == 0))).to(tl.int32), 0) == 0)
    if UNBIASED:
        good = good & (tl.max(tl.where(real, square, 0.0), 0) <= 1 / 1.05)
    m = tl.where((bin_[:, None] == bin_[None, :]) & real[None, :], 1.0, 0.0).to(tl.float64)
    for k in tl.static_range(ORDER + 1):
        power = tl.where(real, 1.0, 0.0).to(tl.float64)
        if k > 0:
            power = sum_by_bin(hot, pick_row(all_, POWERS + k - 1)) * inverse
        left = tl.sum(m * power[None, :], 1)
        left = tl.sum(m * left[None, :], 1)
        norm = tl.sqrt(tl.sum(left * left, 0))
        good = good & (norm > 1e-11 * tl.sqrt(tl.sum(power * power, 0)))
        left = left / norm
        m -= left[:, None] * left[None, :]
        tl.store(vectors + k * NB + bin_, left)
    own = tl.sum(tl.where(bin_[:, None] == bin_[None, :], m, 0.0), 0)
    tl.store(table + TO * NB + bin_, to.to(tl.float64))
    tl.store(table + INVERSE * NB + bin_, inverse)
    tl.store(table + TOTAL * NB + bin_, square)
    tl.store(table + BIAS * NB + bin_, tl.where(real, own / (1 - 2 * cube / square + square), 0.0))
    tl.store(table + SINGLE * NB + GOOD, good.to(tl.float64))
    tl.store(table + SINGLE * NB + BINS, count.to(tl.float64))
    tl.store(table + SINGLE * NB + SELECTED, selected.to(tl.float64))


@triton.jit
def sums_before(before, table, at, merged, NB: tl.constexpr):
    """The sum of w/W_b or w^2/W_b by bin over the events before a chunk; ``merged`` maps bins to merged bins."""
    bin_ = tl.arange(0, NB)
    return sum_by_bin(merged, tl.load(before + at * NB + bin_)) * tl.load(table + INVERSE * NB + bin_)


@launched
def walk(
    order, weight, places, before, chunks, vectors, table, score, numbers, halves, results, n, chunk, programs,
    WEIGHTED: tl.constexpr, ORDER: tl.constexpr, UNBIASED: tl.constexpr, MEAN: tl.constexpr, NB: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Half of the gradient: minus the change of J at each event, along one of the orders.

    A step e = w/W_b of F_b changes F'MF by 2 e (MF)_b, and the bias by g_b [e^2 (1 - 2 F_b) - 2 e S_b + 2 e F_b T_b],
    with F and S in the middle of the step. (MF)_b is F_b - sum_k v_kb c_k, where c_k = v_k'F grows by v_kb e. At equal
    scores, F and S are the values in the middle of all their steps: the mean over two orders. The second order has
    equal scores the other way round. J is 0 above and below all scores, so the loss is the sum of gradient times score.
    ``results`` gets the chunk's part of the loss.

    F at an event is the sum before its block plus a sum over pairs of its block.
    """
    program, way, lanes, bins = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK), tl.arange(0, NB)
    good = tl.load(table + SINGLE * NB + GOOD) > 0
    selected = tl.load(table + SINGLE * NB + SELECTED).to(tl.int32)
    scale = 0.5 / tl.load(table + SINGLE * NB + BINS) if MEAN else 0.5
    center = (tl.load(numbers + LOW) + tl.load(numbers + HIGH)) / 2
    merged = tl.load(table + TO * NB + bins).to(tl.int32)[:, None] == bins[None, :]
    of_way, unit = way * programs + program, tl.max(load_chunks(chunks, 2, programs), 0)
    of_squares = (2 * way + 1) * programs + program
    cdf_before = sums_before(before, table, 2 * way * programs + program, merged, NB)
    squares_before = sums_before(before, table, of_squares, merged, NB) * tl.load(table + INVERSE * NB + bins)
    loss = tl.zeros([BLOCK], tl.float64)
    pairs = tl.where(lanes[None, :] < lanes[:, None], 1.0, tl.where(lanes[None, :] == lanes[:, None], 0.5, 0.0))
    pairs = pairs.to(tl.float64)
    for first in range(program * chunk, tl.minimum(program * chunk + chunk, selected), BLOCK):
        at = first + lanes
        here = at < selected
        event = at_place(order, way, at, here, selected, n)
        w = load_weights(weight, event, here, unit, WEIGHTED)
        bin_ = tl.load(table + TO * NB + tl.load(places + event, here, 0)).to(tl.int32)
        e = w * tl.load(table + INVERSE * NB + bin_)
        hot = bin_[:, None] == bins[None, :]
        own = tl.where(bin_[:, None] == bin_[None, :], pairs, 0.0)
        cdf = tl.sum(tl.where(hot, cdf_before[None, :], 0.0), 1) + tl.sum(own * e[None, :], 1)
        residual = cdf
        for k in tl.static_range(ORDER + 1):
            v = tl.load(vectors + k * NB + bin_, here, 0.0)
            of_block = tl.cumsum(v * e, 0) - 0.5 * v * e
            residual -= v * (of_block + tl.sum(tl.load(vectors + k * NB + bins) * cdf_before, 0))
        s = tl.load(score + event, here, 0.0).to(tl.float64) - center
        change = -2 * scale * e * residual
        if UNBIASED:
            squares = tl.sum(tl.where(hot, squares_before[None, :], 0.0), 1) + tl.sum(own * (e * e)[None, :], 1)
            variance = e * (1 - 2 * cdf) - 2 * squares + 2 * cdf * tl.load(table + TOTAL * NB + bin_)
            change += e * scale * tl.load(table + BIAS * NB + bin_) * variance
            squares_before += sum_by_bin(hot, e * e)
        loss += change * s
        tl.store(halves + way * n + event, tl.where(good, change, 0.0), here)
        cdf_before += sum_by_bin(hot, e)
    tl.store(results + of_way, tl.sum(loss, 0))


@launched
def finish(
    halves, keys, results, table, grad, loss, good, n, chunk, programs, NB: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    """The gradient, 0 for events that take no part; the loss, or 0 for a batch without a loss; whether it has one."""
    program = tl.program_id(0)
    end = tl.minimum(program * chunk + chunk, n)
    for first in range(program * chunk, end, WIDE):
        at = first + tl.arange(0, WIDE)
        takes = (at < end) & (tl.load(keys + at, at < end, float("inf")) < float("inf"))
        tl.store(grad + at, tl.load(halves + at, takes, 0.0) + tl.load(halves + n + at, takes, 0.0), at < end)
    if program == 0:
        lanes = tl.arange(0, 2 * MOST)
        sum_ = tl.sum(tl.load(results + lanes, lanes < 2 * programs, 0.0), 0)
        fine = (tl.load(table + SINGLE * NB + GOOD) > 0) & (sum_ - sum_ == 0)
        tl.store(loss, tl.where(fine, sum_, 0.0))
        tl.store(good, fine)
