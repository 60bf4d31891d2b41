/*
 * mode.hpp - mode.h for C++11 and later: header-only, nothing numerical, no globals. mode.h says what functions and options do.
 *
 *     std::vector<float> score, mass, weight, grad(score.size());
 *     std::vector<int> label, year;
 *     const mode::handle m("order=2 monotonic");
 *     double loss = mode::loss(m, mode::events<float>(score, label, mass), grad);
 *     // without labels, of two variables of mass, with weights, in categories
 *     loss = mode::loss(m, mode::events<float>(score, {}, {mass, pt}, weight, year));
 *
 * Arrays    std::vector, or anything else with data() and size() (std::span, std::array), or {pointer, size}; {} is an array that
 *           is not given, and an empty vector is an array of length 0. Lengths are compared before the library is called.
 * Errors    A function throws mode::error, unless its last argument is a mode::status: then it sets the status, and returns NaN or
 *           an empty table. With -fno-exceptions an error without a status aborts the program, as in the standard library.
 */
#ifndef LIBMODE_MODE_HPP
#define LIBMODE_MODE_HPP

#include <mode.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mode {

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

class error : public std::runtime_error {
public:
    error(int code, const char *message) : std::runtime_error(message), code_(code) {}
    int code() const noexcept { return code_; } /* one of MODE_ERROR_... */

private:
    int code_;
};

/* The last argument of each function: a status, or {} to throw. */
class report {
public:
    report() noexcept : to_(nullptr) {}
    report(status &to) noexcept : to_(&to) {}
    /* Whether a call succeeded, whose code this is. */
    bool operator()(int code) const { return set(code, code == MODE_OK ? "" : mode_last_error()); }
    bool set(int code, const char *message) const {
        if (to_) to_->set(code, message);
        if (to_ || code == MODE_OK) return code == MODE_OK;
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
        throw error(code, message);
#else
        std::fprintf(stderr, "%s\n", message);
        std::abort();
#endif
    }

private:
    status *to_;
};

/* An array argument. It owns nothing. A negative or too large size is an error of the call. */
template <class T>
class array {
public:
    array() noexcept : data_(nullptr), size_(0), given_(false) {}
    array(T *data, std::size_t size) noexcept : data_(data), size_(size), given_(true) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

    /* Whether the array, if given, may be read and has n elements, as another one has. Negative lengths are shown as they were. */
    bool fits(const std::string &name, const char *other, std::size_t n, report outcome) const {
        const std::size_t most = std::numeric_limits<std::uint32_t>::max();
        if (!given_ || (size_ == n && n <= most && (data_ || !n))) return true;
        std::string what = name + " has length " + std::to_string(static_cast<long long>(size_)) + ", but ";
        if (size_ != n) what += other + (" has length " + std::to_string(static_cast<long long>(n)));
        else if (size_ > most) what += "one call takes at most " + std::to_string(most) + " elements";
        else what = name + " is NULL, but " + std::to_string(n) + " elements are expected";
        return outcome.set(MODE_ERROR_ARGUMENT, what.c_str());
    }

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
    view(same_const_vector &list) noexcept : view(list.data(), list.size()) {}
    template <class Integer, class = typename std::enable_if<std::is_integral<Integer>::value>::type> /* also of an int in braces */
    view(T *data, Integer size) noexcept : array<T>(data, static_cast<std::size_t>(size)) {}
    template <class Array, class = typename std::enable_if<
                               std::is_convertible<decltype(std::declval<const Array &>().data()), T *>::value>::type>
    view(const Array &list) noexcept : view(list.data(), list.size()) {}
};

/* An array for results of events of the type T; {}: not wanted. It is not deduced from an argument. */
template <class T>
using output = typename std::common_type<view<T>>::type;

/* The types of mode.h. */
constexpr int type_of(const float *) noexcept { return MODE_FLOAT32; }
constexpr int type_of(const double *) noexcept { return MODE_FLOAT64; }
constexpr int type_of(const bool *) noexcept { return MODE_UINT8; }
constexpr int type_of(const unsigned char *) noexcept { return MODE_UINT8; }
constexpr int type_of(const signed char *) noexcept { return MODE_INT8; }
constexpr int type_of(const char *) noexcept { return std::is_signed<char>::value ? MODE_INT8 : MODE_UINT8; }
constexpr int type_of(const int *) noexcept { return MODE_INT32; }
constexpr int type_of(const long *) noexcept { return sizeof(long) == 4 ? MODE_INT32 : MODE_INT64; }
constexpr int type_of(const long long *) noexcept { return MODE_INT64; }

/* A view of labels or categories, float, double, bool, integers of 8 bits or signed integers of 32 or 64 bits. */
class labels : public array<const void> {
public:
    labels() noexcept : type(MODE_INT32) {}
    template <class T, class Integer, class = decltype(type_of(std::declval<const T *>())),
              class = typename std::enable_if<std::is_integral<Integer>::value>::type>
    labels(const T *data, Integer size) noexcept : array<const void>(data, static_cast<std::size_t>(size)), type(type_of(data)) {}
    template <class Array, class = decltype(labels(std::declval<const Array &>().data(), std::size_t()))>
    labels(const Array &list) noexcept : labels(list.data(), list.size()) {}
    int type; /* of mode.h */
};

/* The arrays of a call, float or double, of 1 to 3 variables of mass. It owns nothing but a copy of several masses. */
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

    /* The events after the first n are reference events. */
    events &batch(std::size_t n) noexcept { return c_.batch = n, *this; }
    /* Whether the arrays may be read and have one length. */
    bool check(report outcome = {}) const { return checked_.ok() || outcome.set(checked_.code(), checked_.message()); }
    /* For the functions of mode.h. Good while this object lives, where it is. */
    mode_events to_c() const noexcept {
        mode_events c = c_;
        if (!masses_.empty()) c.mass = masses_.data();
        return c;
    }

private:
    events(numbers score, labels label, const numbers *masses, std::size_t n_mass, numbers weight, labels category) : c_() {
        const std::size_t n = score.size();
        c_.size = sizeof c_, c_.n = n, c_.dtype = type_of(score.data()), c_.n_mass = static_cast<std::int32_t>(n_mass);
        c_.score = score.data(), c_.label = label.data(), c_.weight = weight.data(), c_.category = category.data();
        c_.label_type = label.type, c_.category_type = category.type;
        bool good = score.fits("score", "score", n, checked_) && label.fits("label", "score", n, checked_) &&
                    weight.fits("weight", "score", n, checked_) && category.fits("category", "score", n, checked_);
        if (good && (n_mass < 1 || n_mass > 3)) good = report(checked_).set(MODE_ERROR_ARGUMENT, "mass has 1 to 3 variables");
        for (std::size_t k = 0; good && k < n_mass; k++) {
            const numbers mass(masses[k].data(), masses[k].size()); /* {} has length 0 */
            good = mass.fits(n_mass > 1 ? "mass[" + std::to_string(k) + "]" : "mass", "score", n, checked_);
            if (good && n_mass > 1) masses_.insert(masses_.end(), mass.data(), mass.data() + n);
            c_.mass = mass.data();
        }
    }

    mode_events c_;
    std::vector<T> masses_; /* of several variables, one after the other */
    status checked_;        /* of the arrays */
};

/* Options, see mode_new. After an error it is empty, and so is its text. */
class handle {
public:
    explicit handle(const std::string &options = "", report outcome = {}) : c_(mode_new(options.c_str())) {
        int threads = 0;
        const int code = c_ ? MODE_OK : mode_get_threads(&threads); /* the library may not work at all */
        outcome(c_ || code ? code : MODE_ERROR_OPTION);
    }

    /* mode_set_edges, for edges that are too many for a text. */
    void set_edges(std::size_t variable, view<const double> edges, report outcome = {}) {
        outcome(mode_set_edges(c_.get(), variable, edges.size(), edges.data()));
    }

    std::string text() const { return mode_text(c_.get()); }
    const mode_handle *to_c() const noexcept { return c_.get(); } /* for the functions of mode.h, while this object lives */

private:
    struct deleter { /* no pointer to mode_free, which ROOT would want to find when it loads a macro that is compiled */
        void operator()(mode_handle *m) const noexcept { mode_free(m); }
    };
    std::unique_ptr<mode_handle, deleter> c_;
};

typedef mode_result result;
typedef std::array<double, 3> averages; /* zeros before the first batch */

/* mode_loss with all that it finds. */
template <class T>
result evaluate(const handle &m, const events<T> &given, output<T> grad = {}, output<T> hess = {}, double smoothing = 0,
                report outcome = {}, bool quality = true, double *known = nullptr) {
    const mode_events arrays = given.to_c();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    result found = {sizeof found, nan, nan, nan, quality, smoothing, hess.data(), known};
    if (given.check(outcome) && grad.fits("grad", "score", arrays.n, outcome) && hess.fits("hess", "score", arrays.n, outcome))
        outcome(mode_loss(m.to_c(), &arrays, &found, grad.data()));
    return found;
}

/* mode_loss without the rest, which is faster; and as a multiple of the cross entropy. */
template <class T>
double loss(const handle &m, const events<T> &given, output<T> grad = {}, report outcome = {}) {
    return evaluate(m, given, grad, {}, 0, outcome, false).loss;
}
template <class T>
double loss(const handle &m, const events<T> &given, output<T> grad, averages &known, report outcome = {}) {
    return evaluate(m, given, grad, {}, 0, outcome, false, known.data()).loss;
}

/* A state of mode_push before its first batch. */
inline std::vector<double> state(const handle &m) { return std::vector<double>(mode_state_size(m.to_c())); }

/* mode_push: adds the push to a gradient, of all events or of the batch. Without a state ({}) nothing is remembered. */
template <class T>
void push(const handle &m, const events<T> &given, view<double> state, output<T> grad, report outcome = {}) {
    const mode_events arrays = given.to_c();
    if (given.check(outcome) && grad.fits("grad", "the batch", arrays.batch ? arrays.batch : arrays.n, outcome) &&
        state.fits("state", "a state", mode_state_size(m.to_c()), outcome))
        outcome(mode_push(m.to_c(), &arrays, state.data(), grad.data(), grad.data()));
}

/* What a mode_table has. Rows lie one after another. */
struct table {
    std::vector<double> edges, cdf, moments, bounded;
};

/* mode_table_of: the edges, and the rest at some scores if these are given. */
template <class T>
table table_of(const handle &m, const events<T> &given, view<const double> at = {}, report outcome = {}) {
    table found;
    mode_table c = {sizeof c, at.size(), at.data(), 0, nullptr, nullptr, nullptr, nullptr, 0};
    const mode_events arrays = given.to_c();
    if (!given.check(outcome) || !at.fits("at", "at", at.size(), outcome) || !outcome(mode_table_of(m.to_c(), &arrays, &c))) return found;
    const std::string text = m.text(); /* begins with the order, unless that is 0 */
    const std::size_t size = 1 + (text.compare(0, 6, "order=") ? 0 : std::strtoul(text.c_str() + 6, nullptr, 10));
    found.edges.resize(c.n_bins + 1); /* which the call has set */
    found.cdf.resize(at.size() * c.n_bins);
    found.moments.resize(at.size() * size);
    found.bounded.resize(at.size() * size);
    c.capacity = c.n_bins;
    c.edges = found.edges.data();
    if (at.data()) c.cdf = found.cdf.data(), c.moments = found.moments.data(), c.bounded = found.bounded.data();
    return outcome(mode_table_of(m.to_c(), &arrays, &c)) ? found : table();
}

/* mode_distance_correlation. */
template <class T>
double distance_correlation(view<const T> x, output<const T> y, output<const T> weight = {}, bool unbiased = false,
                            output<T> grad_x = {}, output<T> grad_y = {}, report outcome = {}) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const std::size_t n = x.size();
    if (x.fits("x", "x", n, outcome) && y.fits("y", "x", n, outcome) && weight.fits("weight", "x", n, outcome) &&
        grad_x.fits("grad_x", "x", n, outcome) && grad_y.fits("grad_y", "x", n, outcome))
        outcome(mode_distance_correlation(n, type_of(x.data()), x.data(), y.data(), weight.data(), unbiased, &value, grad_x.data(),
                                          grad_y.data()));
    return value;
}

} // namespace mode

#endif
