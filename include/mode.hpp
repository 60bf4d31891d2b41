/*
 * mode.hpp - mode.h for C++11 and later: header-only, nothing numerical, no globals. mode.h says what each function and option does.
 *
 *     std::vector<float> score, mass, weight, grad(score.size());
 *     std::vector<int> label, year;
 *     mode::options options;
 *     options.order(2).monotonic();
 *     double loss = mode::loss(options, mode::events<float>(score, label, mass), grad);
 *     // without labels, of two variables of mass, with weights, in categories
 *     loss = mode::loss(options, mode::events<float>(score, {}, {mass, pt}, weight, year));
 *
 * Arrays    std::vector, or anything else with data() and size() (std::span, std::array), or {pointer, size}; {} is an array that
 *           is not given, and an empty vector is an array of length 0. Lengths are compared before the library is called.
 * Errors    A function throws mode::error, unless its last argument is a mode::status: then it sets the status, and returns NaN or
 *           an empty table after an error. With -fno-exceptions an error without a status aborts the program, as in the standard library.
 */
#ifndef LIBMODE_MODE_HPP
#define LIBMODE_MODE_HPP

#include <mode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define MODE_EXCEPTIONS 1
#else
#define MODE_EXCEPTIONS 0
#endif

namespace mode {

/* ---------------------------------------------------------------- errors */

/* How a call ended. */
class status {
public:
    bool ok() const noexcept { return code_ == MODE_OK; }
    int code() const noexcept { return code_; } /* MODE_OK or one of MODE_ERROR_... */
    const char *message() const noexcept { return message_; }

    void set(int code, const char *message) noexcept {
        code_ = code;
        std::snprintf(message_, sizeof message_, "%s", message);
    }

private:
    int code_ = MODE_OK;
    char message_[1024] = ""; /* as long as the library's longest */
};

#if MODE_EXCEPTIONS
class error : public std::runtime_error {
public:
    error(int code, const char *message) : std::runtime_error(message), code_(code) {}
    int code() const noexcept { return code_; } /* one of MODE_ERROR_... */

private:
    int code_;
};
#endif

/* The last argument of each function: a status, or {} to throw. */
class report {
public:
    report() noexcept : to_(nullptr) {}
    report(status &to) noexcept : to_(&to) {}

    /* Whether a call succeeded, whose code this is. */
    bool operator()(int code) const { return code == MODE_OK ? set(code, "") : set(code, mode_last_error()); }

    bool set(int code, const char *message) const {
        if (!to_ && code != MODE_OK) {
#if MODE_EXCEPTIONS
            throw error(code, message);
#else
            std::fprintf(stderr, "%s\n", message);
            std::abort();
#endif
        }
        if (to_) to_->set(code, message);
        return code == MODE_OK;
    }

private:
    status *to_;
};

/* ---------------------------------------------------------------- arrays */

/* An array argument. It owns nothing. A negative or too large size is an error of the call. */
template <class T>
class array {
public:
    array() noexcept : data_(nullptr), size_(0), given_(false) {}
    array(T *data, std::size_t size) noexcept : data_(data), size_(size), given_(true) {}

    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool given() const noexcept { return given_; }

private:
    T *data_;
    std::size_t size_;
    bool given_;
};

/* An array of numbers. */
template <class T>
class view : public array<T> {
    typedef std::vector<typename std::remove_const<T>::type> vector;
    typedef typename std::conditional<std::is_const<T>::value, const vector, vector>::type same_const_vector;

public:
    view() noexcept {}

    /* In braces an int would not become a size_t. */
    template <class Integer, class = typename std::enable_if<std::is_integral<Integer>::value>::type>
    view(T *data, Integer size) noexcept : array<T>(data, static_cast<std::size_t>(size)) {}

    view(same_const_vector &list) noexcept : view(list.data(), list.size()) {}

    template <class Array, class = typename std::enable_if<
                               std::is_convertible<decltype(std::declval<const Array &>().data()), T *>::value>::type>
    view(const Array &list) noexcept : view(list.data(), list.size()) {}
};

namespace detail {

/* MODE_LABEL_... of labels of the type T, or -1. */
template <class T, bool arithmetic = std::is_arithmetic<T>::value>
struct label_type : std::integral_constant<int, -1> {};

template <class T>
struct label_type<T, true>
    : std::integral_constant<int, std::is_same<T, float>::value    ? MODE_LABEL_FLOAT32
                                  : std::is_same<T, double>::value ? MODE_LABEL_FLOAT64
                                  : !std::is_integral<T>::value    ? -1
                                  : std::is_unsigned<T>::value     ? (sizeof(T) == 1 ? MODE_LABEL_UINT8 : -1)
                                  : sizeof(T) == 1                 ? MODE_LABEL_INT8
                                  : sizeof(T) == 4                 ? MODE_LABEL_INT32
                                  : sizeof(T) == 8                 ? MODE_LABEL_INT64
                                                                   : -1> {};

/* Whether an array, if given, may be read and has n elements, as another one has. Lengths are shown as negative where they were. */
template <class T>
bool fits(const char *name, const array<T> &array, const char *other, std::size_t n, report outcome) {
    const std::size_t size = array.size(), most = std::numeric_limits<std::uint32_t>::max();
    const long long shown = static_cast<long long>(size);
    char message[160];
    if (!array.given() || (size == n && size <= most && (array.data() || !n))) return true;
    if (size != n)
        std::snprintf(message, sizeof message, "%s has length %lld, but %s has length %lld", name, shown, other, static_cast<long long>(n));
    else if (size > most)
        std::snprintf(message, sizeof message, "%s has length %lld, but one call takes at most %zu elements", name, shown, most);
    else
        std::snprintf(message, sizeof message, "%s is NULL, but %zu elements are expected", name, n);
    return outcome.set(MODE_ERROR_ARGUMENT, message);
}

/* A struct of mode.h in which nothing but the size is set. */
template <class Struct>
Struct begun() noexcept {
    Struct made = Struct();
    made.struct_size = sizeof made;
    return made;
}

/* Keeps a list for its pointer, also if it is empty. */
template <class T>
std::shared_ptr<const void> kept(std::vector<T> list, const T *&data, std::size_t &size) {
    list.reserve(list.size() + 1);
    const std::shared_ptr<const std::vector<T>> owner = std::make_shared<const std::vector<T>>(std::move(list));
    data = owner->data();
    size = owner->size();
    return owner;
}

} // namespace detail

/* A view of labels or categories, float, double, bool, integers of 8 bits or signed integers of 32 or 64 bits. */
class labels : public array<const void> {
public:
    labels() noexcept : type_(0) {}

    template <class T, class Integer, int found = detail::label_type<T>::value,
              class = typename std::enable_if<found != -1 && std::is_integral<Integer>::value>::type>
    labels(const T *data, Integer size) noexcept : array<const void>(data, static_cast<std::size_t>(size)), type_(found) {}

    template <class Array, class = decltype(labels(std::declval<const Array &>().data(), std::size_t()))>
    labels(const Array &list) noexcept : labels(list.data(), list.size()) {}

    int type() const noexcept { return type_; } /* one of MODE_LABEL_... */

private:
    int type_;
};

/* --------------------------------------------------------------- options */

/* The options of one of several variables of mass, see options::variables. Copies share its edges, which never change. */
class variable {
public:
    variable() noexcept : values_(detail::begun<mode_variable>()) {
        mode_variable_init(&values_, sizeof values_); /* an error comes again with each call, which reports it */
    }

    explicit variable(const mode_variable &c) noexcept : values_(c) {} /* whose edges must live as long */

    variable &bins(std::int32_t value) noexcept { return values_.bins = value, *this; }
    variable &mass_range(double low, double high) noexcept {
        return values_.mass_range[0] = low, values_.mass_range[1] = high, *this;
    }
    variable &edges(std::vector<double> values) {
        return edges_ = detail::kept(std::move(values), values_.edges, values_.n_edges), *this;
    }

    /* For the functions of mode.h. Good while this variable, or a copy of it, lives unchanged. */
    const mode_variable &to_c() const noexcept { return values_; }

private:
    mode_variable values_;
    std::shared_ptr<const void> edges_;
};

/* The options of mode.h, by their names there. Copies share lists, which never change. Calls check the values, and check(). */
class options {
public:
    options() noexcept : values_(detail::begun<mode_options>()) {
        mode_options_init(&values_, sizeof values_); /* an error comes again with each call, which reports it */
    }

    explicit options(const mode_options &c) noexcept : values_(c) {} /* whose lists must live as long */

    /* Any option that is one number: options.set(&mode_options::order, 2). */
    template <class Value, class Given>
    options &set(Value mode_options::*option, Given value) noexcept {
        return values_.*option = static_cast<Value>(value), *this;
    }

    options &order(std::int32_t value) noexcept { return set(&mode_options::order, value); }
    options &bins(std::int32_t value) noexcept { return set(&mode_options::bins, value); }
    options &binning(std::int32_t value) noexcept { return set(&mode_options::binning, value); }
    options &moments(std::int32_t value) noexcept { return set(&mode_options::moments, value); }
    options &slope_of(std::int32_t value) noexcept { return set(&mode_options::slope_of, value); }
    options &reduction(std::int32_t value) noexcept { return set(&mode_options::reduction, value); }
    options &monotonic(bool value = true) noexcept { return set(&mode_options::monotonic, value); }
    options &unbiased(bool value = true) noexcept { return set(&mode_options::unbiased, value); }
    options &joint(bool value = true) noexcept { return set(&mode_options::joint, value); }
    options &missing(std::int32_t value) noexcept { return set(&mode_options::missing, value); }
    options &max_slope(double value) noexcept { return set(&mode_options::max_slope, value); }
    options &slope_penalty(double value) noexcept { return set(&mode_options::slope_penalty, value); }
    options &mass_range(double low, double high) noexcept {
        return values_.mass_range[0] = low, values_.mass_range[1] = high, *this;
    }
    options &score_range(double low, double high) noexcept {
        return values_.score_range[0] = low, values_.score_range[1] = high, *this;
    }

    /* Sets binning too. */
    options &edges(std::vector<double> values) {
        return edges_ = detail::kept(std::move(values), values_.edges, values_.n_edges), binning(MODE_BINNING_EDGES);
    }

    /* Sets binning too if one has edges. */
    options &variables(std::vector<variable> values) {
        std::vector<mode_variable> list;
        for (const variable &one : values) {
            list.push_back(one.to_c());
            if (one.to_c().edges) binning(MODE_BINNING_EDGES); /* also if they are empty, which is an error */
        }
        variables_ = std::make_shared<const std::vector<variable>>(std::move(values)); /* which own the edges */
        list_ = detail::kept(std::move(list), values_.variables, values_.n_variables);
        return *this;
    }

    options &background_label(std::int32_t value) { return background_label(std::vector<std::int32_t>(1, value)); }
    options &background_label(std::vector<std::int32_t> values) {
        return labels_ = detail::kept(std::move(values), values_.background_label, values_.n_background_label), *this;
    }

    /* Reports the first option that is out of its range. */
    void check(report outcome = {}) const { outcome(mode_options_check(&values_)); }

    /* For the functions of mode.h. Good while these options, or a copy of them, live unchanged. */
    const mode_options &to_c() const noexcept { return values_; }

private:
    mode_options values_;
    std::shared_ptr<const void> edges_, variables_, list_, labels_; /* own what the values point to */
};

/* ---------------------------------------------------------------- events */

namespace detail {

/* A type of mode.h for float or double. */
template <class T, class F32, class F64>
using of_type = typename std::conditional<std::is_same<T, float>::value, F32, F64>::type;

} // namespace detail

template <class T>
using c_events = detail::of_type<T, mode_events_f32, mode_events_f64>;
template <class T>
using result = detail::of_type<T, mode_result_f32, mode_result_f64>;

/* An array for results of events of the type T; {}: not wanted. */
template <class T>
using output = typename std::common_type<view<T>>::type; /* which is not deduced from an argument */

/* The arrays of a call, float or double, of 1 to 3 variables of mass. It owns nothing, and is meant for arguments. */
template <class T>
class events {
    static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value, "float or double");
    typedef view<const T> numbers;

public:
    events(numbers score, labels label, numbers mass, numbers weight = {}, labels category = {})
        : events(score, label, &mass, 1, weight, category) {}
    events(numbers score, labels label, std::initializer_list<numbers> masses, numbers weight = {}, labels category = {})
        : events(score, label, masses.begin(), masses.size(), weight, category) {}
    events(numbers score, labels label, const std::vector<numbers> &masses, numbers weight = {}, labels category = {})
        : events(score, label, masses.data(), masses.size(), weight, category) {}

    /* Whether the arrays may be read and have one length. */
    bool check(report outcome = {}) const { return checked_.ok() || outcome.set(checked_.code(), checked_.message()); }

    std::size_t size() const noexcept { return c_.n; }

    /* For the functions of mode.h. Good while this object lives, where it is. */
    c_events<T> to_c() const noexcept {
        c_events<T> c = c_;
        c.mass = masses_;
        return c;
    }

private:
    events(numbers score, labels label, const numbers *masses, std::size_t n_mass, numbers weight, labels category)
        : c_(detail::begun<c_events<T>>()), masses_() {
        const std::size_t n = score.size();
        bool good = detail::fits("score", score, "score", n, checked_) && detail::fits("label", label, "score", n, checked_);
        for (std::size_t k = 0; k < n_mass && k < 3; k++) { /* more are an error of the call */
            static const char *const names[] = {"mass[0]", "mass[1]", "mass[2]"};
            masses_[k] = masses[k].data();
            const numbers mass(masses_[k], masses[k].size()); /* {} has length 0 */
            good = good && detail::fits(n_mass == 1 ? "mass" : names[k], mass, "score", n, checked_);
        }
        good = good && detail::fits("weight", weight, "score", n, checked_) && detail::fits("category", category, "score", n, checked_);
        c_.n = n;
        c_.score = score.data();
        c_.label = label.data();
        c_.n_mass = n_mass;
        c_.weight = weight.data();
        c_.category = category.data();
        c_.label_type = label.type();
        c_.category_type = category.type();
    }

    c_events<T> c_;
    const T *masses_[3];
    status checked_; /* of the arrays */
};

/* ------------------------------------------------------------- functions */

namespace detail {

/* The function of mode.h for a type. */
template <class F32, class F64>
F32 *pick(const float *, F32 *function, F64 *) noexcept { return function; }
template <class F32, class F64>
F64 *pick(const double *, F32 *, F64 *function) noexcept { return function; }

/* Results, none so far. */
template <class Result>
Result nothing_found() noexcept {
    Result found = begun<Result>();
    found.loss = found.bias = found.events = std::numeric_limits<double>::quiet_NaN();
    return found;
}

} // namespace detail

/* The loss with bias and events: evaluate(options, events, grad, hess, smoothing). */
template <class T>
result<T> evaluate(const options &chosen, const events<T> &given, output<T> grad = {}, output<T> hess = {}, double smoothing = 0,
                   report outcome = {}, bool quality = true) {
    result<T> found = detail::nothing_found<result<T>>();
    found.grad = grad.data();
    found.hess = hess.data();
    found.smoothing = smoothing;
    found.quality = quality;
    const std::size_t n = given.size();
    if (!given.check(outcome) || !detail::fits("grad", grad, "score", n, outcome) || !detail::fits("hess", hess, "score", n, outcome))
        return found;
    const c_events<T> arrays = given.to_c();
    outcome(detail::pick(arrays.score, mode_evaluate_f32, mode_evaluate_f64)(&chosen.to_c(), &arrays, &found));
    return found;
}

/* The loss alone, which is faster. */
template <class T>
double loss(const options &chosen, const events<T> &given, output<T> grad = {}, report outcome = {}) {
    return evaluate(chosen, given, grad, {}, 0, outcome, false).loss;
}

/* A state of a constraint before its first batch. */
inline std::vector<double> state(std::size_t labels = 1, std::size_t categories = 0, report outcome = {}) {
    std::size_t size = 0;
    outcome(mode_state_size(labels, categories, &size));
    return std::vector<double>(size);
}

/* A mode_constraint with the defaults. */
inline mode_constraint constraint() noexcept { return detail::begun<mode_constraint>(); }

/*
 * Both steps of the law: the gradient with the push, by mode_constraint_push_... and mode_constraint_apply_.... The gradients have
 * as many elements as the batch has events, and may be the same array. The state is brought up to date.
 */
template <class T>
void constrain(const options &chosen, const events<T> &given, mode_constraint how, view<double> state, output<const T> gradient,
               output<T> result, report outcome = {}) {
    const std::size_t n = gradient.size();
    if (!given.check(outcome) || !detail::fits("gradient", gradient, "gradient", n, outcome) ||
        !detail::fits("result", result, "gradient", n, outcome))
        return;
    const c_events<T> arrays = given.to_c();
    if (n != (how.batch ? how.batch : arrays.n)) {
        outcome.set(MODE_ERROR_ARGUMENT, "gradient must have as many elements as the batch has events");
        return;
    }
    std::vector<T> room(4 * n);
    std::vector<double> lesson(state.size());
    auto rows = detail::begun<detail::of_type<T, mode_rows_f32, mode_rows_f64>>();
    rows.push = room.data();
    rows.multiplier = rows.push + n;
    rows.slope = rows.multiplier + n;
    rows.part = rows.slope + n;
    rows.lesson = lesson.data();
    how.state = state.data();
    how.n_state = state.size();
    if (outcome(detail::pick(arrays.score, mode_constraint_push_f32, mode_constraint_push_f64)(&chosen.to_c(), &arrays, &how, &rows)))
        outcome(detail::pick(arrays.score, mode_constraint_apply_f32, mode_constraint_apply_f64)(
            n, &rows, gradient.data(), result.data(), state.data(), state.size(), nullptr));
}

/* What a mode_table has. Rows lie one after another. */
struct table {
    std::vector<double> edges, cdf, moments, bounded;
};

/* mode_table_f32 and mode_table_f64: the edges, and the rest at some scores. */
template <class T>
table moments(const options &chosen, const events<T> &given, view<const double> at, report outcome = {}) {
    table found;
    if (!given.check(outcome) || !detail::fits("at", at, "at", at.size(), outcome)) return found;
    const std::size_t size = static_cast<std::size_t>(std::max(0, std::min(chosen.to_c().order, 16))) + 1; /* 0 to 16 are good */
    mode_table c = detail::begun<mode_table>();
    const c_events<T> arrays = given.to_c();
    const auto fill = detail::pick(arrays.score, mode_table_f32, mode_table_f64);
    if (!outcome(fill(&chosen.to_c(), &arrays, &c))) return found; /* sets n_bins */
    found.edges.resize(c.n_bins + 1);
    found.cdf.resize(at.size() * c.n_bins);
    found.moments.resize(at.size() * size);
    found.bounded.resize(at.size() * size);
    c.n_at = at.size();
    c.at = at.data();
    c.capacity = c.n_bins;
    c.edges = found.edges.data();
    if (at.given()) c.cdf = found.cdf.data(), c.moments = found.moments.data(), c.bounded = found.bounded.data();
    return outcome(fill(&chosen.to_c(), &arrays, &c)) ? found : table();
}

/* The edges alone, for which scores have no effect. */
template <class T>
std::vector<double> edges(const options &chosen, const events<T> &given, report outcome = {}) {
    return moments(chosen, given, {}, outcome).edges;
}

} // namespace mode

#endif
