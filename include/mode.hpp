/*
 * mode.hpp - mode.h for C++11 and later: header-only, nothing numerical, no globals.
 *
 * Use:
 *
 *     std::vector<float> score, mass, weight;
 *     mode::options options;
 *     options.order(2).monotonic();
 *
 *     double loss = mode::loss(options, score, mass, weight);
 *     mode::result<float> both = mode::loss_and_grad(options, score, mass);
 *
 * Arrays    float or double: std::vector, or anything else with data() and size()
 *           (std::span, std::array), or {pointer, size}. Labels may also be bool, integers
 *           of 8 bits, and signed ones of 32 or 64 bits.
 *           {} stands for weights or labels that there are not: weights are then 1
 *           and every event is selected. An empty vector does not stand for that.
 *           Lengths are compared before the library is called.
 * Errors    Each function has two forms. One throws mode::error. The other takes a
 *           mode::status at its end, sets it on every call and never throws
 *           mode::error; those that return no vector throw nothing at all. With
 *           -fno-exceptions only this form is there. The library throws nothing and
 *           calls nothing of yours: no exception passes through it.
 *
 *               mode::status status;
 *               double loss = mode::loss(options, score, mass, {}, {}, status);
 *               if (!status.ok()) std::fprintf(stderr, "%s\n", status.message());
 *
 * Shapes, ranges and defaults are those of mode.h, and so is what holds of threads,
 * memory and fork(). For the threads and the version, call mode.h.
 */
#ifndef LIBMODE_MODE_HPP
#define LIBMODE_MODE_HPP

#include <mode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
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

/* ---------------------------------------------------------------- arrays */

/*
 * A pointer and a number of elements: how arrays are passed. It does not own them,
 * and is meant for arguments, which live until the call has ended. A negative
 * size is an error of the call, as one that is too large is.
 */
template <class T>
class view {
    typedef std::vector<typename std::remove_const<T>::type> vector;
    typedef typename std::conditional<std::is_const<T>::value, const vector, vector>::type same_const_vector;

public:
    /* An array that is not given. */
    view() noexcept : data_(nullptr), size_(0), given_(false) {}

    view(T *data, std::size_t size) noexcept : data_(data), size_(size), given_(true) {}

    /* In braces an int would not become a size_t. */
    template <class Integer, class = typename std::enable_if<std::is_integral<Integer>::value>::type>
    view(T *data, Integer size) noexcept : view(data, static_cast<std::size_t>(size)) {}

    view(same_const_vector &array) noexcept : view(array.data(), array.size()) {}

    template <class Array, class = typename std::enable_if<
                               std::is_convertible<decltype(std::declval<const Array &>().data()), T *>::value>::type>
    view(const Array &array) noexcept : view(array.data(), static_cast<std::size_t>(array.size())) {}

    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool given() const noexcept { return given_; }

private:
    T *data_;
    std::size_t size_;
    bool given_;
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

} // namespace detail

/* A view of labels, with their type. */
class labels {
public:
    /* Every event is selected. */
    labels() noexcept : data_(nullptr), size_(0), type_(0), given_(false) {}

    template <class T, class Integer, int found = detail::label_type<T>::value,
              class = typename std::enable_if<found != -1 && std::is_integral<Integer>::value>::type>
    labels(const T *data, Integer size) noexcept
        : data_(data), size_(static_cast<std::size_t>(size)), type_(found), given_(true) {}

    template <class Array, class = decltype(labels(std::declval<const Array &>().data(), std::size_t()))>
    labels(const Array &array) noexcept : labels(array.data(), array.size()) {}

    const void *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    int type() const noexcept { return type_; } /* one of MODE_LABEL_... */
    bool given() const noexcept { return given_; }

private:
    const void *data_;
    std::size_t size_;
    int type_;
    bool given_;
};

/* ---------------------------------------------------------------- errors */

/* How a call ended. */
class status {
public:
    status() noexcept : code_(MODE_OK), message_() {}

    bool ok() const noexcept { return code_ == MODE_OK; }

    /* MODE_OK or one of MODE_ERROR_... */
    int code() const noexcept { return code_; }

    /* Names the argument, its value and its place; "" after success. */
    const char *message() const noexcept { return message_; }

    void set(int code, const char *message) noexcept {
        code_ = code;
        std::snprintf(message_, sizeof message_, "%s", message);
    }

private:
    int code_;
    char message_[1024]; /* as long as the library's longest */
};

#if MODE_EXCEPTIONS
/* What is thrown: what() is the message, code() one of MODE_ERROR_... */
class error : public std::runtime_error {
public:
    explicit error(const status &outcome) : std::runtime_error(outcome.message()), code_(outcome.code()) {}
    int code() const noexcept { return code_; }

private:
    int code_;
};
#endif

namespace detail {

inline void set(status &outcome, int code) noexcept { outcome.set(code, code == MODE_OK ? "" : mode_last_error()); }

#if MODE_EXCEPTIONS
inline void require(const status &outcome) {
    if (!outcome.ok()) throw error(outcome);
}
#endif

} // namespace detail

/* --------------------------------------------------------------- options */

enum class loss_kind : std::int32_t { mode = MODE_LOSS_MODE, disco = MODE_LOSS_DISCO, flatness = MODE_LOSS_FLATNESS };

enum class binning : std::int32_t {
    quantile = MODE_BINNING_QUANTILE,
    uniform = MODE_BINNING_UNIFORM,
    edges = MODE_BINNING_EDGES
};

enum class moment_kind : std::int32_t {
    quadrature = MODE_MOMENTS_QUADRATURE,
    projection = MODE_MOMENTS_PROJECTION
};

enum class slope_of : std::int32_t { rejected = MODE_SLOPE_OF_REJECTED, selected = MODE_SLOPE_OF_SELECTED };

enum class reduction : std::int32_t { mean = MODE_REDUCTION_MEAN, sum = MODE_REDUCTION_SUM };

/*
 * The options of mode.h, which describes each, with their defaults. It owns its
 * edges and labels and may be copied and moved. Values are checked by the calls
 * that use them, and by check().
 */
class options {
public:
    options() noexcept : values_() {
        if (mode_options_init(&values_, sizeof values_) != MODE_OK)
            values_.struct_size = sizeof values_; /* each call has the same error again, and reports it */
    }

    /* Those of a C program, which mode_options_init has set up; edges and labels are copied. */
    explicit options(const mode_options &c) : values_(c) {
        values_.edges = nullptr;
        values_.n_edges = 0;
        values_.background_label = nullptr;
        values_.n_background_label = 0;
        if (c.edges) edges_.assign(c.edges, c.edges + c.n_edges);
        if (c.background_label)
            background_label(std::vector<std::int32_t>(c.background_label, c.background_label + c.n_background_label));
    }

    /*
     * Any option that is one number, by its name in mode.h:
     * options.set(&mode_options::order, 2). Most have a function of their own below.
     */
    template <class Value, class Given>
    options &set(Value mode_options::*option, Given value) noexcept {
        values_.*option = static_cast<Value>(value);
        return *this;
    }

    options &loss(mode::loss_kind value) noexcept { return set(&mode_options::loss, value); }
    options &order(std::int32_t value) noexcept { return set(&mode_options::order, value); }
    options &bins(std::int32_t value) noexcept { return set(&mode_options::bins, value); }
    options &binning(mode::binning value) noexcept { return set(&mode_options::binning, value); }
    options &moments(mode::moment_kind value) noexcept { return set(&mode_options::moments, value); }
    options &slope_of(mode::slope_of value) noexcept { return set(&mode_options::slope_of, value); }
    options &reduction(mode::reduction value) noexcept { return set(&mode_options::reduction, value); }
    options &monotonic(bool value = true) noexcept { return set(&mode_options::monotonic, value); }
    options &unbiased(bool value = true) noexcept { return set(&mode_options::unbiased, value); }
    options &max_slope(double value) noexcept { return set(&mode_options::max_slope, value); }
    options &slope_penalty(double value) noexcept { return set(&mode_options::slope_penalty, value); }

    /* (-INFINITY, INFINITY): from the data. */
    options &mass_range(double low, double high) noexcept { return set(values_.mass_range, low, high); }
    options &score_range(double low, double high) noexcept { return set(values_.score_range, low, high); }

    /* Sets binning too. */
    options &edges(std::vector<double> values) {
        edges_ = std::move(values);
        return binning(mode::binning::edges);
    }

    options &background_label(std::int32_t value) { return background_label(std::vector<std::int32_t>(1, value)); }
    options &background_label(std::vector<std::int32_t> values) {
        labels_ = std::move(values);
        labels_.push_back(0);
        return *this;
    }

    /* Reports the first option that is out of its range. */
    void check(status &outcome) const noexcept {
        const mode_options c = to_c();
        detail::set(outcome, mode_options_check(&c));
    }
#if MODE_EXCEPTIONS
    void check() const {
        status outcome;
        check(outcome);
        detail::require(outcome);
    }
#endif

    /* For the functions of mode.h. Good until these options change or end. */
    mode_options to_c() const noexcept {
        mode_options c = values_;
        c.edges = edges_.data();
        c.n_edges = edges_.size();
        if (!labels_.empty()) {
            c.background_label = labels_.data();
            c.n_background_label = labels_.size() - 1;
        }
        return c;
    }

private:
    options &set(double (&range)[2], double low, double high) noexcept {
        range[0] = low;
        range[1] = high;
        return *this;
    }

    mode_options values_; /* its pointers stay NULL */
    std::vector<double> edges_;
    std::vector<std::int32_t> labels_; /* those given and one more, for a pointer even if none is; empty: the default */
};

namespace detail {

/* The array, where {} is one of length 0. */
template <class T>
view<T> required(const view<T> &array) noexcept {
    return view<T>(array.data(), array.size());
}

/* Whether an array may be read; if not, outcome says why. Lengths are shown as negative where they were. */
template <class Array>
bool readable(const char *name, const Array &array, status &outcome) noexcept {
    const std::size_t n = array.size(), most = std::numeric_limits<std::uint32_t>::max();
    char message[160];
    if (n > most)
        std::snprintf(message, sizeof message, "%s has length %lld, but one call takes at most %zu elements", name,
                      static_cast<long long>(n), most);
    else if (n > 0 && !array.data())
        std::snprintf(message, sizeof message, "%s is NULL, but %zu elements are expected", name, n);
    else
        return true;
    outcome.set(MODE_ERROR_ARGUMENT, message);
    return false;
}

/* Whether an array, if given, may be read and is as long as another one; if not, outcome says why. */
template <class Array, class Other>
bool fits(const char *name, const Array &array, const char *other_name, const Other &other, status &outcome) noexcept {
    if (!array.given()) return true;
    if (array.size() == other.size()) return readable(name, array, outcome);
    char message[160];
    std::snprintf(message, sizeof message, "%s has length %lld, but %s has length %lld", name,
                  static_cast<long long>(array.size()), other_name, static_cast<long long>(other.size()));
    outcome.set(MODE_ERROR_ARGUMENT, message);
    return false;
}

template <class T>
bool events_fit(const view<const T> &score, const view<const T> &mass, const view<const T> &weight,
                const labels &label, status &outcome) noexcept {
    return readable("score", score, outcome) && fits("mass", required(mass), "score", score, outcome) &&
           fits("weight", weight, "score", score, outcome) && fits("label", label, "score", score, outcome);
}

inline int call(const mode_options *c, std::size_t n, const float *score, const float *mass, const float *weight,
                const labels &label, double *loss, float *grad) noexcept {
    return mode_loss_grad_f32(c, n, score, mass, weight, label.data(), label.type(), loss, grad);
}
inline int call(const mode_options *c, std::size_t n, const double *score, const double *mass, const double *weight,
                const labels &label, double *loss, double *grad) noexcept {
    return mode_loss_grad_f64(c, n, score, mass, weight, label.data(), label.type(), loss, grad);
}

template <class T>
double loss_and_grad(const options &chosen, view<const T> score, view<const T> mass, view<const T> weight,
                     labels label, view<T> grad, status &outcome) noexcept {
    double loss = std::numeric_limits<double>::quiet_NaN();
    if (events_fit(score, mass, weight, label, outcome) && fits("grad", grad, "score", score, outcome)) {
        const mode_options c = chosen.to_c();
        set(outcome, call(&c, score.size(), score.data(), mass.data(), weight.data(), label, &loss, grad.data()));
    }
    return loss;
}

inline int call_edges(const mode_options *c, std::size_t n, const float *mass, const float *weight,
                      const labels &label, std::size_t capacity, double *edges, std::size_t *n_edges) noexcept {
    return mode_edges_f32(c, n, mass, weight, label.data(), label.type(), capacity, edges, n_edges);
}
inline int call_edges(const mode_options *c, std::size_t n, const double *mass, const double *weight,
                      const labels &label, std::size_t capacity, double *edges, std::size_t *n_edges) noexcept {
    return mode_edges_f64(c, n, mass, weight, label.data(), label.type(), capacity, edges, n_edges);
}

template <class T>
std::vector<double> edges(const options &chosen, view<const T> mass, view<const T> weight, labels label,
                          status &outcome) {
    std::vector<double> found;
    if (!readable("mass", mass, outcome) || !fits("weight", weight, "mass", mass, outcome) ||
        !fits("label", label, "mass", mass, outcome))
        return found;
    const mode_options c = chosen.to_c();
    /* More bins than events are an error, for which there need not be room. */
    const std::size_t bins = c.bins > 0 ? static_cast<std::size_t>(c.bins) : 32;
    std::size_t n_edges = 0;
    found.resize(std::max(std::min(bins, mass.size()) + 1, c.n_edges));
    set(outcome, call_edges(&c, mass.size(), mass.data(), weight.data(), label, found.size(), found.data(), &n_edges));
    found.resize(outcome.ok() ? n_edges : 0);
    return found;
}

inline int call_moments(const mode_options *c, std::size_t n, const float *score, const float *mass,
                        const float *weight, const labels &label, std::size_t n_at, const double *at,
                        std::size_t n_bins, double *cdf, double *moments, double *bounded) noexcept {
    return mode_moments_f32(c, n, score, mass, weight, label.data(), label.type(), n_at, at, n_bins, cdf, moments,
                            bounded);
}
inline int call_moments(const mode_options *c, std::size_t n, const double *score, const double *mass,
                        const double *weight, const labels &label, std::size_t n_at, const double *at,
                        std::size_t n_bins, double *cdf, double *moments, double *bounded) noexcept {
    return mode_moments_f64(c, n, score, mass, weight, label.data(), label.type(), n_at, at, n_bins, cdf, moments,
                            bounded);
}

} // namespace detail

/* ------------------------------------------------------------------ loss */

/*
 * The loss, as mode_loss_f32 and mode_loss_f64. After an error the forms with a
 * status return NaN.
 */
inline double loss(const options &chosen, view<const float> score, view<const float> mass, view<const float> weight,
                   labels label, status &outcome) noexcept {
    return detail::loss_and_grad(chosen, score, mass, weight, label, view<float>(), outcome);
}
inline double loss(const options &chosen, view<const double> score, view<const double> mass, view<const double> weight,
                   labels label, status &outcome) noexcept {
    return detail::loss_and_grad(chosen, score, mass, weight, label, view<double>(), outcome);
}

/*
 * The loss, with its derivative by each score in grad, which has as many elements
 * as score. After an error the forms with a status return NaN, and grad means
 * nothing.
 */
inline double loss_and_grad(const options &chosen, view<const float> score, view<const float> mass,
                            view<const float> weight, labels label, view<float> grad, status &outcome) noexcept {
    return detail::loss_and_grad(chosen, score, mass, weight, label, detail::required(grad), outcome);
}
inline double loss_and_grad(const options &chosen, view<const double> score, view<const double> mass,
                            view<const double> weight, labels label, view<double> grad, status &outcome) noexcept {
    return detail::loss_and_grad(chosen, score, mass, weight, label, detail::required(grad), outcome);
}

/* ----------------------------------------------------------- look inside */

/*
 * The edges of the mass bins that the loss would use, in units of mass, as
 * mode_edges_f32 and mode_edges_f64. After an error the forms with a status return an
 * empty vector.
 */
inline std::vector<double> edges(const options &chosen, view<const float> mass, view<const float> weight, labels label,
                                 status &outcome) {
    return detail::edges(chosen, mass, weight, label, outcome);
}
inline std::vector<double> edges(const options &chosen, view<const double> mass, view<const double> weight,
                                 labels label, status &outcome) {
    return detail::edges(chosen, mass, weight, label, outcome);
}

/* What the loss is made of, at each of some scores. Rows lie one after another. */
struct table {
    std::vector<double> edges;   /* bins + 1: of the mass bins, in units of mass */
    std::vector<double> cdf;     /* a row of bins for each score: F_b, the weight fraction of bin b with scores <= it */
    std::vector<double> moments; /* a row of order + 1 for each score: c_l */
    std::vector<double> bounded; /* a row of order + 1 for each score: c~_l */
};

namespace detail {

template <class T>
table moments(const options &chosen, view<const T> score, view<const T> mass, view<const T> weight, labels label,
              view<const double> at, status &outcome) {
    table found;
    if (!events_fit(score, mass, weight, label, outcome) || !readable("at", at, outcome)) return found;
    found.edges = edges(chosen, mass, weight, label, outcome);
    if (!outcome.ok()) return found;
    const mode_options c = chosen.to_c();
    const std::size_t bins = found.edges.size() - 1, size = static_cast<std::size_t>(c.order) + 1;
    found.cdf.resize(at.size() * bins);
    found.moments.resize(at.size() * size);
    found.bounded.resize(at.size() * size);
    set(outcome, call_moments(&c, score.size(), score.data(), mass.data(), weight.data(), label, at.size(), at.data(),
                              bins, found.cdf.data(), found.moments.data(), found.bounded.data()));
    return outcome.ok() ? found : table();
}

} // namespace detail

/*
 * The edges, F_b, c_l and c~_l at the scores in at, as mode_edges_f64 and
 * mode_moments_f64 and their like for float. After an error the forms with a status
 * return an empty table.
 */
inline table moments(const options &chosen, view<const float> score, view<const float> mass, view<const float> weight,
                     labels label, view<const double> at, status &outcome) {
    return detail::moments(chosen, score, mass, weight, label, at, outcome);
}
inline table moments(const options &chosen, view<const double> score, view<const double> mass,
                     view<const double> weight, labels label, view<const double> at, status &outcome) {
    return detail::moments(chosen, score, mass, weight, label, at, outcome);
}

/* ------------------------------------------------- the forms that throw */

#if MODE_EXCEPTIONS

namespace detail {

/* What a form with a status returns, or its error as an exception. */
template <class Call>
auto checked(Call call) -> decltype(call(std::declval<status &>())) {
    status outcome;
    auto value = call(outcome);
    require(outcome);
    return value;
}

} // namespace detail

inline double loss(const options &chosen, view<const float> score, view<const float> mass,
                   view<const float> weight = {}, labels label = {}) {
    return detail::checked([&](status &outcome) { return loss(chosen, score, mass, weight, label, outcome); });
}
inline double loss(const options &chosen, view<const double> score, view<const double> mass,
                   view<const double> weight = {}, labels label = {}) {
    return detail::checked([&](status &outcome) { return loss(chosen, score, mass, weight, label, outcome); });
}

inline double loss_and_grad(const options &chosen, view<const float> score, view<const float> mass,
                            view<const float> weight, labels label, view<float> grad) {
    return detail::checked(
        [&](status &outcome) { return loss_and_grad(chosen, score, mass, weight, label, grad, outcome); });
}
inline double loss_and_grad(const options &chosen, view<const double> score, view<const double> mass,
                            view<const double> weight, labels label, view<double> grad) {
    return detail::checked(
        [&](status &outcome) { return loss_and_grad(chosen, score, mass, weight, label, grad, outcome); });
}

template <class T>
struct result {
    double loss;
    std::vector<T> grad; /* d loss/d score_i */
};

namespace detail {

template <class T>
result<T> loss_and_new_grad(const options &chosen, view<const T> score, view<const T> mass, view<const T> weight,
                            labels label) {
    status outcome;
    result<T> both = result<T>();
    if (readable("score", score, outcome)) {
        both.grad.resize(score.size());
        both.loss = loss_and_grad(chosen, score, mass, weight, label, view<T>(both.grad), outcome);
    }
    require(outcome);
    return both;
}

} // namespace detail

inline result<float> loss_and_grad(const options &chosen, view<const float> score, view<const float> mass,
                                   view<const float> weight = {}, labels label = {}) {
    return detail::loss_and_new_grad(chosen, score, mass, weight, label);
}
inline result<double> loss_and_grad(const options &chosen, view<const double> score, view<const double> mass,
                                    view<const double> weight = {}, labels label = {}) {
    return detail::loss_and_new_grad(chosen, score, mass, weight, label);
}

inline std::vector<double> edges(const options &chosen, view<const float> mass, view<const float> weight = {},
                                 labels label = {}) {
    return detail::checked([&](status &outcome) { return edges(chosen, mass, weight, label, outcome); });
}
inline std::vector<double> edges(const options &chosen, view<const double> mass, view<const double> weight = {},
                                 labels label = {}) {
    return detail::checked([&](status &outcome) { return edges(chosen, mass, weight, label, outcome); });
}

inline table moments(const options &chosen, view<const float> score, view<const float> mass, view<const float> weight,
                     labels label, view<const double> at) {
    return detail::checked([&](status &outcome) { return moments(chosen, score, mass, weight, label, at, outcome); });
}
inline table moments(const options &chosen, view<const double> score, view<const double> mass,
                     view<const double> weight, labels label, view<const double> at) {
    return detail::checked([&](status &outcome) { return moments(chosen, score, mass, weight, label, at, outcome); });
}

#endif

} // namespace mode

#endif
