"""Numbers and results of tests as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
VERDICTS = {True: "flat", False: "not flat", None: "not known"}


def short(value: float | None, digits: int = 3) -> str:
    """Three digits, and all of a whole number: 0.612, 28.0, 1234, 1.20×10⁻⁷; a dash for an unknown number."""
    if value is None or value != value:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}×10{str(int(exponent)).translate(RAISED)}"
    if size >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")  # 99.96 is 100, not 100.


def percent(value: float | None) -> str:
    """A measured fraction with three digits: 50.0 %, 1.27 %."""
    return "–" if value is None or value != value else f"{short(100 * value)} %"


def efficiency(value: float) -> str:
    """A requested fraction as it is: 50 %, 0.25 %."""
    return f"{100 * value:g} %"


def p_value(value: float) -> str:
    """0.31, or 2.1×10⁻⁶; 0 stands for a p-value below 1e-300."""
    return "< 10⁻³⁰⁰" if value == 0 else short(value, 2)


def signal_and_error(quoted: dict[str, float]) -> str:
    """A fitted signal, its standard error and their ratio: -12 ± 25 (-0.5 σ)."""
    signal, error = quoted["signal"], quoted["error"]
    return f"{short(signal)} ± {short(error)} ({signal / error:.1f} σ)".replace("-", "−")


def chance(value: float | None, expected: float | None) -> str:
    """A residual, and its value from statistics alone in brackets."""
    return f"{percent(value)} ({percent(expected)})"


def unknown(numbers: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each number that is not known: its score and working point, its name, and the reason."""
    yield from (("", *item) for item in numbers["unknown"].items())
    for score in numbers["scores"]:
        yield from ((score["score"], *item) for item in score["unknown"].items())
        for point in score["working_points"]:
            where = f"{score['score']} at {efficiency(point['wanted'])}"
            yield from ((where, *item) for item in point["unknown"].items())
            fits = point["spurious_signal"] if numbers["fit"] and numbers["fit"]["rows"] else None
            for mass, signal in zip(fits["signal_mass"], fits["signal"], strict=True) if fits else ():
                if signal is None:
                    yield where, f"spurious signal at {short(mass)}", "too few selected events there"


class Table(NamedTuple):
    """Text in rows, the first column with the score, for the page and the terminal."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


def tables(numbers: dict[str, Any]) -> Iterator[Table]:
    """All tables of a report, from the contents of report.json."""
    scores, labeled = numbers["scores"], numbers["label"] is not None
    kind, fit = ("signal" if labeled else "background") + " efficiency", numbers["fit"]
    yield Table(
        "All thresholds at once, and the most significant cut; in brackets the residual from statistics alone",
        ["score", *["AUC"] * labeled, "p-value", "of all cuts", "loss / its mean without dependence",
         "of the most significant cut", "its background efficiency", "threshold", "residual"],
        [[score["score"], *[short(score["auc"], 4)] * labeled, *_test(score["dependence"])] for score in scores],
    )  # fmt: skip
    quoted = fit and fit["quoted"]
    yield Table(
        "Each working point; in brackets the residual from statistics alone, and the 1/JSD of a random selection",
        ["score", kind, "threshold", *["background efficiency"] * labeled, "rejection", "residual", "p-value",
         "verdict", "errors of a template",
         "largest spurious signal" if quoted is None else f"spurious signal at {short(quoted)}",
         "chi2 / ndof without it", "1/JSD"],
        [_point(score["score"], point, labeled) for score in scores for point in score["working_points"]],
    )  # fmt: skip
    closures = [
        row for score in scores if score["closure"] for row in _closure(score["score"], score["closure"], labeled)
    ]
    if closures:
        yield Table(
            f"Closure of the ABCD method with {numbers['second']}: background in A where both cuts keep as much; last, "
            "the pair of cuts where the closure is worst",
            ["score", "threshold", "second threshold", "seen", "predicted", "predicted / seen", "significance",
             *["signal / background in A, B, C, D"] * labeled],
            closures,
        )  # fmt: skip
    if fit and fit["rows"]:
        fits = [("", "no cut", fit["before"])]
        for score in scores:
            points = score["working_points"]
            fits += [(score["score"], efficiency(point["wanted"]), point["spurious_signal"]) for point in points]
        rows = [_fit(name, at, fit, k, signals) for name, at, signals in fits for k in range(len(fit["signal_mass"]))]
        yield Table("Spurious signal at each mass", ["score", kind, "mass", "width", "spurious signal"], rows)


def _test(test: dict[str, Any] | None) -> list[str]:
    """The columns of the test of all cuts."""
    if test is None:
        return ["–"] * 7
    ratio = short(test["value"] / test["expectation"]) if test["expectation"] else "–"
    cut, tight = test["cut"], ["–"] * 4
    if cut is not None:
        residual = chance(cut["residual"], cut["expected"])
        tight = [p_value(test["p_one_cut"]), percent(cut["efficiency"]), short(cut["threshold"], 4), residual]
    return [p_value(test["p_value"]), p_value(test["p_all_cuts"]), ratio, *tight]


def _point(name: str, point: dict[str, Any], labeled: bool) -> list[str]:
    """The row of a working point."""
    flat, test = point["flatness"] or {"rms": None, "expected": None}, point["dependence"]
    fits = point["spurious_signal"]
    quoted = fits and fits["quoted"]
    return [
        name,
        efficiency(point["wanted"]),
        short(point["threshold"], 4),
        *[percent(point["background_efficiency"])] * labeled,
        short(point["rejection"]),
        chance(flat["rms"], flat["expected"]),
        p_value(test["p_value"]) if test else "–",
        VERDICTS[point["flat"]],
        f"{point['template']['significance']:+.1f} σ".replace("-", "−") if point["template"] else "–",
        f"{signal_and_error(quoted)} at {short(quoted['signal_mass'])}" if quoted else "–",
        f"{short(fits['chi2'])} / {fits['ndof']}" if fits else "–",
        f"{short(point['inverse_jsd'])} ({short(point['inverse_jsd_ceiling'])})",
    ]


def _closure(name: str, closure: dict[str, Any], labeled: bool) -> Iterator[list[str]]:
    """A row where both cuts keep as much, for each cut, and one for the worst pair of cuts."""
    columns = ("seen", "predicted", "ratio", "error", "significance")
    cuts = [
        {"threshold": closure["threshold"][k], "second_threshold": closure["second_threshold"][k]}
        | {column: closure[column][k][k] for column in columns}
        for k in range(len(closure["fractions"]))
    ]
    for k, cut in enumerate([*cuts, closure["worst"]]):
        signal = closure["contamination"] if k < len(cuts) else None
        yield [
            name,
            *(short(cut[column], 4) for column in ("threshold", "second_threshold")),
            *(short(cut.get(column)) for column in ("seen", "predicted")),
            f"{short(cut['ratio'])} ± {short(cut['error'])}",
            f"{cut['significance']:.1f} σ",
            *[", ".join(short(region[k][k]) for region in signal) if signal else "–"] * labeled,
        ]


def _fit(name: str, at: str, fit: dict[str, Any], k: int, signals: dict[str, Any] | None) -> list[str]:
    """The row of the signal k that the user asks for, at a working point."""
    widths = fit["signal_width"]
    pair = signals and {key: signals[key][k] for key in ("signal", "error")}
    width = widths[k] if isinstance(widths, list) else widths
    signal = "–" if not pair or pair["signal"] is None else signal_and_error(pair)
    return [name, at, short(fit["signal_mass"][k]), short(width), signal]
