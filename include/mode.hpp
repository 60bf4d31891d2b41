/*
 * mode.hpp - mode.h for C++11 and later: header-only, nothing numerical, no globals.
 *
 * Use:
 *
 *     std::vector<float> score, mass, weight, grad(score.size());
 *     std::vector<int> label, year;
 *     mode::options options;
 *     options.order(2).monotonic();
 *
 *     auto events = mode::events<float>(score, label, mass);
 *     double loss = mode::loss(options, events);
 *     loss = mode::loss(options, events, grad);
 *
 *     // without labels, of two variables of mass, with weights, in categories
 *     loss = mode::loss(options, mode::events<float>(score, {}, {mass, pt}, weight, year));
 *
 * Arrays    float or double: std::vector, or anything else with data() and size()
 *           (std::span, std::array), or {pointer, size}. Labels may also be bool, integers
 *           of 8 bits, and signed integers of 32 or 64 bits.
 *           {} is an array that is not given: weights are then 1, every event is selected,
 *           and a derivative is not computed. An empty vector is an array of length 0.
 *           Lengths are compared before the library is called.
 * Errors    Each function has two forms. One throws mode::error. The other takes a
 *           mode::status at its end, sets it on every call and never throws
 *           mode::error; functions that return no vector throw nothing at all. With
 *           -fno-exceptions only this form exists. The library itself throws nothing.
 *
 *               mode::status status;
 *               double loss = mode::loss(options, events, {}, status);
 *               if (!status.ok()) std::fprintf(stderr, "%s\n", status.message());
 *
 * Shapes, ranges, defaults and the rules for threads, memory and fork() are as in
 * mode.h. For the number of threads and the version, call mode.h.
 */
#ifndef LIBMODE_MODE_HPP
#define LIBMODE_MODE_HPP

#include <mode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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

/* ---------------------------------------------------------------- arrays */

/*
 * An array argument: a pointer and a number of elements. It does not own them;
 * they must live until the call has ended. A negative or too large size is an
 * error of the call.
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
/* The exception: what() is the message, code() one of MODE_ERROR_... */
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

enum class binning : std::int32_t {
    quantile = MODE_BINNING_QUANTILE,
    uniform = MODE_BINNING_UNIFORM,
    edges = MODE_BINNING_EDGES,
    values = MODE_BINNING_VALUES
};

enum class moment_kind : std::int32_t {
    projection = MODE_MOMENTS_PROJECTION,
    quadrature = MODE_MOMENTS_QUADRATURE
};

enum class slope_of : std::int32_t { rejected = MODE_SLOPE_OF_REJECTED, selected = MODE_SLOPE_OF_SELECTED };

enum class reduction : std::int32_t { mean = MODE_REDUCTION_MEAN, sum = MODE_REDUCTION_SUM };

enum class missing : std::int32_t { error = MODE_MISSING_ERROR, ignore = MODE_MISSING_IGNORE };

/*
 * The options of one of several variables of mass, see options::variables. It owns its
 * edges, shares them with its copies, and never changes them.
 */
class variable {
public:
    variable() noexcept : values_() {
        if (mode_variable_init(&values_, sizeof values_) != MODE_OK)
            values_.struct_size = sizeof values_; /* each call has the same error again, and reports it */
    }

    /* From the variable of a C program, which mode_variable_init has set up; edges are copied. */
    explicit variable(const mode_variable &c) : values_(c) {
        if (c.edges) edges(std::vector<double>(c.edges, c.edges + c.n_edges));
    }

    variable &bins(std::int32_t value) noexcept {
        values_.bins = value;
        return *this;
    }
    /* (-INFINITY, INFINITY): from the data. */
    variable &mass_range(double low, double high) noexcept {
        values_.mass_range[0] = low;
        values_.mass_range[1] = high;
        return *this;
    }
    variable &edges(std::vector<double> values) {
        edges_ = std::make_shared<const std::vector<double>>(std::move(values));
        values_.edges = edges_->data();
        values_.n_edges = edges_->size();
        return *this;
    }

    /* For the functions of mode.h. Good while this variable, or a copy of it, lives unchanged. */
    mode_variable to_c() const noexcept { return values_; }

private:
    friend class options;

    mode_variable values_; /* points to the edges below */
    std::shared_ptr<const std::vector<double>> edges_;
};

/*
 * The options of mode.h, which describes each, with their defaults. It owns its
 * lists and may be copied and moved. Values are checked by the calls that use
 * them, and by check().
 */
class options {
public:
    options() noexcept : values_() {
        if (mode_options_init(&values_, sizeof values_) != MODE_OK)
            values_.struct_size = sizeof values_; /* each call has the same error again, and reports it */
    }

    /* From the options of a C program, which mode_options_init has set up; lists are copied. */
    explicit options(const mode_options &c) : values_(c) {
        values_.edges = nullptr;
        values_.n_edges = 0;
        values_.variables = nullptr;
        values_.n_variables = 0;
        values_.background_label = nullptr;
        values_.n_background_label = 0;
        if (c.edges) edges_.assign(c.edges, c.edges + c.n_edges);
        for (std::size_t k = 0; c.variables && k < c.n_variables; k++) add(variable(c.variables[k]));
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

    options &order(std::int32_t value) noexcept { return set(&mode_options::order, value); }
    options &bins(std::int32_t value) noexcept { return set(&mode_options::bins, value); }
    options &binning(mode::binning value) noexcept { return set(&mode_options::binning, value); }
    options &moments(mode::moment_kind value) noexcept { return set(&mode_options::moments, value); }
    options &slope_of(mode::slope_of value) noexcept { return set(&mode_options::slope_of, value); }
    options &reduction(mode::reduction value) noexcept { return set(&mode_options::reduction, value); }
    options &monotonic(bool value = true) noexcept { return set(&mode_options::monotonic, value); }
    options &unbiased(bool value = true) noexcept { return set(&mode_options::unbiased, value); }
    options &joint(bool value = true) noexcept { return set(&mode_options::joint, value); }
    options &missing(mode::missing value) noexcept { return set(&mode_options::missing, value); }
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

    /* The options of each of several variables. Sets binning too if one has edges. */
    options &variables(const std::vector<variable> &values) {
        variables_.clear();
        c_variables_.clear();
        for (const variable &value : values) add(value);
        for (const variable &value : variables_)
            if (value.edges_) binning(mode::binning::edges); /* also if they are empty, which is an error */
        return *this;
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
        c.variables = c_variables_.data();
        c.n_variables = c_variables_.size();
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

    void add(const variable &value) {
        variables_.push_back(value);
        c_variables_.push_back(value.to_c());
    }

    mode_options values_; /* its pointers stay NULL */
    std::vector<double> edges_;
    std::vector<variable> variables_; /* which keep what the next ones point to */
    std::vector<mode_variable> c_variables_;
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

} // namespace detail

/* ---------------------------------------------------------------- events */

namespace detail {

/* mode_events_f32 or mode_events_f64. */
template <class T>
using c_events = typename std::conditional<std::is_same<T, float>::value, mode_events_f32, mode_events_f64>::type;

/* A struct of mode.h in which nothing but the size is set. */
template <class Struct>
Struct begun() noexcept {
    Struct made = Struct();
    made.struct_size = sizeof made;
    return made;
}

} // namespace detail

/*
 * The arrays of a call, float or double: mode_events_f32 and mode_events_f64 of mode.h. It owns nothing, and is meant for
 * arguments. {} is an array that is not given:
 *
 *     mode::events<float>(score, label, mass)
 *     mode::events<float>(score, label, {mass, pt}, weight, year)
 */
template <class T>
class events {
    static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value, "float or double");

public:
    /* Of one variable. Categories are integers, of a type that labels may have. */
    events(view<const T> score, labels label, view<const T> mass, view<const T> weight = {}, labels category = {}) noexcept
        : events(score, label, &mass, 1, weight, category) {}

    /* Of 1 to 3 variables. */
    events(view<const T> score, labels label, std::initializer_list<view<const T>> masses, view<const T> weight = {},
           labels category = {}) noexcept
        : events(score, label, masses.begin(), masses.size(), weight, category) {}
    events(view<const T> score, labels label, const std::vector<view<const T>> &masses, view<const T> weight = {},
           labels category = {}) noexcept
        : events(score, label, masses.data(), masses.size(), weight, category) {}

    view<const T> score() const noexcept { return score_; }

    /* Whether the arrays may be read and have one length; if not, outcome says why. */
    bool check(status &outcome) const noexcept {
        static const char *const names[] = {"mass[0]", "mass[1]", "mass[2]"};
        if (!detail::readable("score", score_, outcome) || !detail::fits("label", label_, "score", score_, outcome)) return false;
        for (std::size_t k = 0; k < kept(); k++)
            if (!detail::fits(n_mass_ == 1 ? "mass" : names[k], masses_[k], "score", score_, outcome)) return false;
        return detail::fits("weight", weight_, "score", score_, outcome) &&
               detail::fits("category", category_, "score", score_, outcome);
    }

    /* For the functions of mode.h. Good while this object lives, where it is. */
    detail::c_events<T> to_c() const noexcept {
        detail::c_events<T> c = detail::begun<detail::c_events<T>>();
        c.n = score_.size();
        c.score = score_.data();
        c.label = label_.data();
        c.mass = pointers_;
        c.n_mass = n_mass_;
        c.weight = weight_.data();
        c.category = category_.data();
        c.label_type = label_.type();
        c.category_type = category_.type();
        return c;
    }

private:
    enum { most = 3 }; /* more are an error of the call */

    std::size_t kept() const noexcept { return std::min(n_mass_, static_cast<std::size_t>(most)); }

    events(view<const T> score, labels label, const view<const T> *masses, std::size_t n_mass, view<const T> weight,
           labels category) noexcept
        : score_(score), weight_(weight), pointers_(), n_mass_(n_mass), label_(label), category_(category) {
        for (std::size_t k = 0; k < kept(); k++) {
            masses_[k] = detail::required(masses[k]);
            pointers_[k] = masses_[k].data();
        }
    }

    view<const T> score_, masses_[most], weight_;
    const T *pointers_[most]; /* to the masses */
    std::size_t n_mass_;
    labels label_, category_;
};

/* ------------------------------------------------------------------ loss */

namespace detail {

/* A type that is not deduced from an argument. */
template <class T>
struct same {
    typedef T type;
};

/* The functions of mode.h, by the type of the arrays. */
inline decltype(&mode_evaluate_f32) c_evaluate(float) noexcept { return mode_evaluate_f32; }
inline decltype(&mode_evaluate_f64) c_evaluate(double) noexcept { return mode_evaluate_f64; }
inline decltype(&mode_flatness_f32) c_flatness(float) noexcept { return mode_flatness_f32; }
inline decltype(&mode_flatness_f64) c_flatness(double) noexcept { return mode_flatness_f64; }
inline decltype(&mode_constraint_push_f32) c_push(float) noexcept { return mode_constraint_push_f32; }
inline decltype(&mode_constraint_push_f64) c_push(double) noexcept { return mode_constraint_push_f64; }
inline decltype(&mode_distance_correlation_f32) c_correlation(float) noexcept { return mode_distance_correlation_f32; }
inline decltype(&mode_distance_correlation_f64) c_correlation(double) noexcept { return mode_distance_correlation_f64; }
inline decltype(&mode_edges_f32) c_edges(float) noexcept { return mode_edges_f32; }
inline decltype(&mode_edges_f64) c_edges(double) noexcept { return mode_edges_f64; }
inline decltype(&mode_moments_f32) c_moments(float) noexcept { return mode_moments_f32; }
inline decltype(&mode_moments_f64) c_moments(double) noexcept { return mode_moments_f64; }

constexpr double none() noexcept { return std::numeric_limits<double>::quiet_NaN(); }

#if MODE_EXCEPTIONS
/* What a form with a status returns, or its error as an exception. */
template <class Call>
auto checked(Call call) -> decltype(call(std::declval<status &>())) {
    status outcome;
    auto value = call(outcome);
    require(outcome);
    return value;
}
#endif

} // namespace detail

/* An array for results of events of the type T; {}: not wanted. */
template <class T>
using output = typename detail::same<view<T>>::type;

/*
 * The loss, its derivatives by the scores in grad, what says whether it is significant, and the bound of its curvature, as
 * mode_evaluate_f32 and mode_evaluate_f64: mode::evaluate(options, events, grad, &quality, smoothing, hess). quality may be
 * nullptr. After an error the form with a status returns NaN, and grad, hess and *quality mean nothing.
 */
template <class T>
double evaluate(const options &chosen, const events<T> &given, output<T> grad, mode_quality *quality, double smoothing,
                output<T> hess, status &outcome) noexcept {
    double loss = detail::none();
    if (given.check(outcome) && detail::fits("grad", grad, "score", given.score(), outcome) &&
        detail::fits("hess", hess, "score", given.score(), outcome)) {
        const mode_options c = chosen.to_c();
        const detail::c_events<T> arrays = given.to_c();
        if (quality) *quality = detail::begun<mode_quality>();
        detail::set(outcome, detail::c_evaluate(T())(&c, &arrays, &loss, grad.data(), quality, smoothing, hess.data()));
    }
    return loss;
}

/* The loss, and its derivatives by the scores in grad. After an error the form with a status returns NaN. */
template <class T>
double loss(const options &chosen, const events<T> &given, output<T> grad, status &outcome) noexcept {
    return evaluate(chosen, given, grad, nullptr, 0, view<T>(), outcome);
}

/* The flatness loss, as mode_flatness_f32 and mode_flatness_f64. After an error the form with a status returns NaN. */
template <class T>
double flatness(const options &chosen, const events<T> &given, output<T> grad, status &outcome) noexcept {
    double loss = detail::none();
    if (given.check(outcome) && detail::fits("grad", grad, "score", given.score(), outcome)) {
        const mode_options c = chosen.to_c();
        const detail::c_events<T> arrays = given.to_c();
        detail::set(outcome, detail::c_flatness(T())(&c, &arrays, &loss, grad.data()));
    }
    return loss;
}

/*
 * A mode_constraint whose state is this array of mode_state_size() numbers, all 0 before the first batch; {}: nothing is
 * remembered.
 */
inline mode_constraint constraint(view<double> state = {}) noexcept {
    mode_constraint made = detail::begun<mode_constraint>();
    made.state = state.data();
    made.n_state = state.size();
    return made;
}

/*
 * The push of a constraint and the multipliers of the gradient, as mode_constraint_push_f32 and mode_constraint_push_f64. push, multiplier,
 * and slope if it is wanted, have as many elements as the batch has events. After an error the numbers that the form with a status returns are NaN.
 */
template <class T>
mode_constraint_result constraint_push(const options &chosen, const events<T> &given, const mode_constraint &constraint, output<T> push,
                      output<T> multiplier, output<T> slope, status &outcome) noexcept {
    mode_constraint_result found = detail::begun<mode_constraint_result>();
    found.loss = found.bias = found.events = found.size = detail::none();
    if (!given.check(outcome) || !detail::readable("push", push, outcome) ||
        !detail::readable("multiplier", multiplier, outcome) ||
        !detail::fits("multiplier", multiplier, "push", push, outcome) || !detail::fits("slope", slope, "push", push, outcome))
        return found;
    const mode_options c = chosen.to_c();
    const detail::c_events<T> arrays = given.to_c();
    if (push.size() != (constraint.batch ? constraint.batch : arrays.n))
        outcome.set(MODE_ERROR_ARGUMENT, "push must have as many elements as the batch has events");
    else
        detail::set(outcome, detail::c_push(T())(&c, &arrays, &constraint, &found, push.data(), multiplier.data(), slope.data()));
    return found;
}

/*
 * The squared distance correlation of x and y, with its derivatives by both, as mode_distance_correlation_f32 and
 * mode_distance_correlation_f64: distance_correlation<float>(x, y). After an error the form with a status
 * returns NaN, and the gradients mean nothing.
 */
template <class T>
double distance_correlation(output<const T> x, output<const T> y, output<const T> weight, bool unbiased,
                            output<T> grad_x, output<T> grad_y, status &outcome) noexcept {
    double value = detail::none();
    if (detail::readable("x", x, outcome) && detail::fits("y", detail::required(y), "x", x, outcome) &&
        detail::fits("weight", weight, "x", x, outcome) && detail::fits("grad_x", grad_x, "x", x, outcome) &&
        detail::fits("grad_y", grad_y, "x", x, outcome))
        detail::set(outcome, detail::c_correlation(T())(x.size(), x.data(), y.data(), weight.data(), unbiased, &value,
                                                        grad_x.data(), grad_y.data()));
    return value;
}

/* ----------------------------------------------------------- look inside */

/*
 * The edges of the mass bins that the loss would use, in units of mass, as
 * mode_edges_f32 and mode_edges_f64. After an error the form with a status returns an
 * empty vector.
 */
template <class T>
std::vector<double> edges(const options &chosen, const events<T> &given, status &outcome) {
    std::vector<double> found;
    if (!given.check(outcome)) return found;
    const mode_options c = chosen.to_c();
    const detail::c_events<T> arrays = given.to_c();
    std::size_t n_edges = 33; /* of the default bins; other bins may need a second call */
    int status = MODE_OK;
    do {
        found.resize(n_edges);
        status = detail::c_edges(T())(&c, &arrays, found.size(), found.data(), &n_edges);
    } while (n_edges > found.size());
    detail::set(outcome, status);
    found.resize(outcome.ok() ? n_edges : 0);
    return found;
}

/* What the loss is made of, at each of some scores. Rows lie one after another. */
struct table {
    std::vector<double> edges;   /* bins + 1: of the mass bins, in units of mass */
    std::vector<double> cdf;     /* a row of bins for each score: F_b, the weight fraction of bin b with scores <= it */
    std::vector<double> moments; /* a row of order + 1 for each score: c_l */
    std::vector<double> bounded; /* a row of order + 1 for each score: c~_l */
};

/*
 * The edges, F_b, c_l and c~_l at the scores in at, as mode_moments_f32 and mode_moments_f64. After an error the form
 * with a status returns an empty table.
 */
template <class T>
table moments(const options &chosen, const events<T> &given, view<const double> at, status &outcome) {
    table found;
    if (!given.check(outcome) || !detail::readable("at", at, outcome)) return found;
    found.edges = edges(chosen, given, outcome);
    if (!outcome.ok()) return found;
    const mode_options c = chosen.to_c();
    const detail::c_events<T> arrays = given.to_c();
    const std::size_t bins = found.edges.size() - 1, size = static_cast<std::size_t>(c.order) + 1;
    found.cdf.resize(at.size() * bins);
    found.moments.resize(at.size() * size);
    found.bounded.resize(at.size() * size);
    std::size_t n_bins = 0;
    detail::set(outcome, detail::c_moments(T())(&c, &arrays, at.size(), at.data(), found.cdf.size(), found.cdf.data(), &n_bins,
                                                found.moments.data(), found.bounded.data()));
    return outcome.ok() ? found : table();
}

/* ------------------------------------------------- the forms that throw */

#if MODE_EXCEPTIONS

template <class T>
double loss(const options &chosen, const events<T> &given, output<T> grad = {}) {
    return detail::checked([&](status &outcome) { return loss(chosen, given, grad, outcome); });
}

template <class T>
double evaluate(const options &chosen, const events<T> &given, output<T> grad, mode_quality *quality, double smoothing = 0,
                output<T> hess = {}) {
    return detail::checked([&](status &outcome) {
        return evaluate(chosen, given, grad, quality, smoothing, hess, outcome);
    });
}

template <class T>
double flatness(const options &chosen, const events<T> &given, output<T> grad = {}) {
    return detail::checked([&](status &outcome) { return flatness(chosen, given, grad, outcome); });
}

template <class T>
mode_constraint_result constraint_push(const options &chosen, const events<T> &given, const mode_constraint &constraint, output<T> push,
                      output<T> multiplier, output<T> slope = {}) {
    return detail::checked([&](status &outcome) {
        return constraint_push(chosen, given, constraint, push, multiplier, slope, outcome);
    });
}

template <class T>
double distance_correlation(output<const T> x, output<const T> y, output<const T> weight = {}, bool unbiased = false,
                            output<T> grad_x = {}, output<T> grad_y = {}) {
    return detail::checked([&](status &outcome) {
        return distance_correlation<T>(x, y, weight, unbiased, grad_x, grad_y, outcome);
    });
}

template <class T>
std::vector<double> edges(const options &chosen, const events<T> &given) {
    return detail::checked([&](status &outcome) { return edges(chosen, given, outcome); });
}

template <class T>
table moments(const options &chosen, const events<T> &given, view<const double> at) {
    return detail::checked([&](status &outcome) { return moments(chosen, given, at, outcome); });
}

#endif

} // namespace mode

#endif
