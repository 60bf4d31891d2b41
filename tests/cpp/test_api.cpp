// mode.hpp beyond the numbers: options, arrays, errors. Compiled as C++11 and C++20, and without exceptions.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "../c/check.h"
#include "mode.hpp"

namespace {

const int N = 64;

// Events that are accepted.
template <class T>
struct events {
    std::vector<T> score, mass, weight;
    std::vector<std::int32_t> label;

    events() : weight(N, 1), label(N, 0) {
        for (int i = 0; i < N; i++) {
            score.push_back((static_cast<T>(37 * i % N) + T(0.5)) / N);
            mass.push_back(static_cast<T>(i));
        }
        weight[3] = T(-0.5);
        label[5] = 1;
    }

    mode::events<T> all() const { return mode::events<T>(score, label, mass, weight); }
    mode::events<T> plain() const { return mode::events<T>(score, {}, mass); }
};

int c_evaluate(const mode_options &c, const mode_events_f32 &e, mode_result_f32 &found) { return mode_evaluate_f32(&c, &e, &found); }
int c_evaluate(const mode_options &c, const mode_events_f64 &e, mode_result_f64 &found) { return mode_evaluate_f64(&c, &e, &found); }

mode::options four_bins() { return mode::options().bins(4); }

void expect(const mode::status &status, int code, const std::string &message) {
    CHECK(status.code() == code && !status.ok(), "code %d, want %d", status.code(), code);
    CHECK(status.message() == message, "\"%s\", want \"%s\"", status.message(), message.c_str());
}

// ------------------------------------------------------------------ options

void test_defaults_are_those_of_the_library() {
    mode_options want;
    mode_options_init(&want, sizeof want);
    const mode_options got = mode::options().to_c();
    CHECK(std::memcmp(&got, &want, sizeof want) == 0, "the defaults differ");
}

void test_setters() {
    mode::options options;
    options.order(3).bins(7).binning(MODE_BINNING_UNIFORM).moments(MODE_MOMENTS_PROJECTION);
    options.slope_of(MODE_SLOPE_OF_SELECTED).reduction(MODE_REDUCTION_SUM).monotonic().unbiased();
    options.max_slope(0.5).slope_penalty(0.25).mass_range(10, 20).score_range(-1, 2);
    const mode_options c = options.to_c();
    CHECK(c.order == 3 && c.bins == 7 && c.binning == MODE_BINNING_UNIFORM, "order, bins, binning");
    CHECK(c.moments == MODE_MOMENTS_PROJECTION && c.slope_of == MODE_SLOPE_OF_SELECTED, "moments, slope_of");
    CHECK(c.reduction == MODE_REDUCTION_SUM && c.monotonic == 1 && c.unbiased == 1, "reduction, monotonic, unbiased");
    CHECK(c.max_slope == 0.5 && c.slope_penalty == 0.25, "max_slope, slope_penalty");
    CHECK(c.mass_range[0] == 10 && c.mass_range[1] == 20, "mass_range");
    CHECK(c.score_range[0] == -1 && c.score_range[1] == 2, "score_range");
    CHECK(mode::options().monotonic(false).to_c().monotonic == 0, "monotonic(false)");
    const mode_options other = mode::options().joint().missing(MODE_MISSING_IGNORE).to_c();
    CHECK(other.joint == 1 && other.missing == MODE_MISSING_IGNORE, "joint, missing");
    CHECK(mode::options().binning(MODE_BINNING_UNIFORM).to_c().binning == MODE_BINNING_UNIFORM, "binning");
}

bool has_both(const mode::options &options) {
    const mode_options c = options.to_c();
    const mode_variable *v = c.variables;
    return c.binning == MODE_BINNING_EDGES && c.n_variables == 2 &&
           v[0].struct_size == sizeof *v && v[0].bins == 3 && v[0].mass_range[1] == 7 && v[0].n_edges == 0 &&
           v[1].bins == 0 && v[1].mass_range[0] == -INFINITY &&
           v[1].n_edges == 3 && v[1].edges[1] == 10 && c.n_background_label == 2 && c.background_label[0] == 4;
}

// Options keep their lists, and those of variables, which copies share.
void test_options_own_their_lists() {
    std::unique_ptr<mode::options> first(new mode::options);
    {
        std::unique_ptr<mode::variable> one(new mode::variable), other(new mode::variable);
        one->bins(3).mass_range(1, 7);
        other->edges({0, 10, 63});
        first->variables({*one, *other}).background_label({4, 0});
        other->edges({1, 2});
    }
    mode::options copy(*first), assigned;
    const mode::options of_c(copy.to_c());
    assigned = *first;
    CHECK(has_both(*first), "what was given");
    first->variables({mode::variable().bins(1)}).background_label(7);
    CHECK(first->to_c().n_variables == 1 && first->to_c().background_label[0] == 7, "others");
    first.reset();
    CHECK(has_both(copy) && has_both(assigned) && has_both(of_c), "copies");
    mode::options moved(std::move(copy)), move_assigned;
    move_assigned = std::move(assigned);
    CHECK(has_both(moved) && has_both(move_assigned), "what is moved");
    copy = moved;
    CHECK(has_both(copy) && has_both(moved), "what was moved from may be assigned to");
    mode::status status;
    mode::options().variables({mode::variable(), mode::variable().bins(-1)}).check(status);
    expect(status, MODE_ERROR_OPTION, "bins of variable 1 = -1 must be at least 1");
    mode::options().variables({mode::variable().edges({})}).check(status);
    expect(status, MODE_ERROR_OPTION, "edges of variable 0 has length 0: binning = edges needs at least 2 edges");
    mode::options().edges({}).check(status);
    expect(status, MODE_ERROR_OPTION, "edges has length 0: binning = edges needs at least 2 edges");
}

// ------------------------------------------------------------------- arrays

template <class T>
void test_results_are_those_of_c() {
    const events<T> e;
    const mode::options options = four_bins().order(1);
    const mode::events<T> all = e.all();
    std::vector<T> want_grad(N), want_hess(N), grad(N), hess(N);
    mode::result<T> of_c = mode::result<T>();
    of_c.struct_size = sizeof of_c;
    of_c.grad = want_grad.data(), of_c.hess = want_hess.data(), of_c.smoothing = 0.5, of_c.quality = 1;
    mode::status status;
    CHECK(!c_evaluate(options.to_c(), all.to_c(), of_c), "%s", mode_last_error());
    const double want = of_c.loss;
    CHECK(mode::loss(options, all, {}, status) == want && status.ok(), "%s", status.message());
    CHECK(mode::loss(options, all, grad, status) == want && grad == want_grad, "%s", status.message());
    CHECK(grad[5] == 0, "an event of another label: %g", static_cast<double>(grad[5]));
    grad.assign(N, 0);
    const mode::result<T> found = mode::evaluate(options, all, grad, hess, 0.5, status);
    CHECK(found.loss == want && found.bias == of_c.bias && found.events == of_c.events, "%s", status.message());
    CHECK(grad == want_grad && hess == want_hess, "the derivatives");
    hess.assign(N, 0);
    CHECK(mode::evaluate(options, all, {}, hess, 0.5, status).loss == want && hess == want_hess, "%s", status.message());
#if MODE_EXCEPTIONS
    grad.assign(N, 0);
    CHECK(mode::loss(options, all) == want && mode::loss(options, all, grad) == want && grad == want_grad, "loss");
    CHECK(mode::evaluate(options, all).bias == of_c.bias, "evaluate");
#endif
}

void test_what_arrays_may_be() {
    const std::array<double, 4> score = {{0.1, 0.4, 0.3, 0.9}};
    std::vector<double> mass = {60, 70, 80, 90}, grad(4), other(4);
    const mode::options options = mode::options().bins(2);
    typedef mode::events<double> events;
    mode::status status;
    const double want = mode::loss(options, events(score, {}, mass), grad, status);
    CHECK(status.ok() && std::isfinite(want), "%s", status.message());
    const double *p = score.data(), *m = mass.data();
    const int n = 4;
    const long long large = 4;
    CHECK(mode::loss(options, events({p, n}, {}, {m, large}), {}, status) == want, "%s", status.message());
    CHECK(mode::loss(options, events({p, mass.size()}, {}, {m, 4u}), {}, status) == want, "%s", status.message());
    CHECK(mode::loss(options, events({p, 4}, {}, mass), {other.data(), 4}, status) == want && other == grad, "%s", status.message());
#if __cplusplus >= 202002L
    other.assign(4, 0);
    const std::span<double> whole(other);
    const std::span<const double> scores(score), masses(mass);
    CHECK(mode::loss(options, events(scores, {}, masses), whole, status) == want, "%s", status.message());
    CHECK(other == grad, "the gradient through std::span");
    CHECK(mode::loss(options, events(std::span(mass).subspan(0, 3), {}, masses), {}, status) != want && !status.ok(), "length 3");
#endif
}

template <class T>
void test_direction() {
    const events<T> e;
    const mode::options options = four_bins().order(1);
    const mode::events<T> all = e.all();
    mode::status status;
    std::vector<T> gradient(N, T(1)), result(N), again(N), half(N / 2);
    std::vector<double> state = mode::state(1, 0, status), other = state;
    CHECK(status.ok() && !mode_state_check(state.data(), state.size(), 1, 0), "%zu numbers", state.size());
    CHECK(mode::state(0, 0, status).empty(), "no label");
    CHECK(status.code() == MODE_ERROR_ARGUMENT, "%s", status.message());
    mode_constraint how = mode::constraint();
    mode::constrain(options, all, how, state, gradient, result, status);
    CHECK(status.ok() && state[MODE_STATE_STEPS] == 1 && result != gradient, "%g steps: %s", state[1], status.message());
    mode::constrain(options, all, how, state, gradient, result, status);
    CHECK(status.ok() && state[MODE_STATE_STEPS] == 2, "%g steps", state[1]);
    how.strength = 1e-9, how.floor = 1;
    mode::constrain(options, all, how, other, gradient, again, status);
    for (std::size_t i = 0; i < N; i++) CHECK(std::abs(again[i] - 1) < 1e-6, "event %zu: %g", i, again[i]);
    how.batch = N / 2;
    mode::constrain(options, all, how, other, half, half, status);
    CHECK(status.ok() && other[MODE_STATE_STEPS] == 2, "%s", status.message());
    mode::constrain(options, all, how, other, gradient, result, status);
    expect(status, MODE_ERROR_ARGUMENT, "gradient must have as many elements as the batch has events");
    mode::constrain(options, all, how, other, half, result, status);
    expect(status, MODE_ERROR_ARGUMENT, "result has length 64, but gradient has length 32");
    how.batch = 0;
    mode::constrain(options, all, how, {}, gradient, result, status);
    expect(status, MODE_ERROR_ARGUMENT, "lesson has length 0, and must have the 300 of a state");
}

// Events of several variables, each compared in length.
template <class T>
void test_events() {
    const events<T> e;
    const mode::options options = four_bins().order(1);
    std::vector<std::int64_t> category(N, 3), short_category(3);
    const std::vector<T> three(3), *const mass = &e.mass;
    mode::status status;
    const double want = mode::loss(options, e.plain(), {}, status);
    CHECK(mode::loss(options, mode::events<T>(e.score, {}, {*mass}), {}, status) == want, "%s", status.message());
    CHECK(mode::loss(options, mode::events<T>(e.score, {}, {mass->data(), N}), {}, status) == want, "%s", status.message());

    const auto c = mode::events<T>(e.score, {}, {*mass, e.score, three}, {}, category).to_c();
    CHECK(c.struct_size == sizeof c && c.n == N && c.n_mass == 3 && c.category == category.data(), "%zu masses", c.n_mass);
    CHECK(c.category_type == MODE_LABEL_INT64 && !c.weight && !c.label, "%d", c.category_type);

    mode::loss(options, mode::events<T>(e.score, {}, {e.mass, three}), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "mass[1] has length 3, but score has length 64");
    mode::loss(options, mode::events<T>(e.score, {}, e.mass, {}, short_category), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "category has length 3, but score has length 64");
    mode::loss(options, mode::events<T>(e.score, {}, e.mass, {}, e.weight), {}, status);
    CHECK(status.code() == MODE_ERROR_ARGUMENT, "categories are integers: %s", status.message());
    mode::loss(options, mode::events<T>(e.score, {}, {e.mass, e.mass, e.mass, e.mass}), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "n_mass = 4: mass has 1 to 3 variables");
}

// Labels of every type: the label 0, and one that only looks like it in another type.
template <class L>
void test_labels(L other) {
    const events<float> e;
    std::vector<std::int32_t> as_int;
    L label[N];
    for (int i = 0; i < N; i++) {
        as_int.push_back(i % 3 == 1);
        label[i] = i % 3 == 1 ? other : L(0);
    }
    const mode::options options = four_bins();
    mode::status status;
    std::vector<float> want(N), grad(N);
    const double loss = mode::loss(options, mode::events<float>(e.score, as_int, e.mass), want, status);
    CHECK(status.ok() && want[3] != 0 && want[1] == 0, "%s", status.message());
    CHECK(mode::loss(options, mode::events<float>(e.score, {label, N}, e.mass), grad, status) == loss && grad == want, "%s", status.message());
}

void test_labels_of_every_type() {
    test_labels<bool>(true);
    test_labels<char>(1);
    test_labels<signed char>(-1);
    test_labels<unsigned char>(255);
    test_labels<int>(-1);
    test_labels<long long>(1LL << 32);
    test_labels<std::int64_t>(-1);
    test_labels<float>(0.5F);
    test_labels<double>(std::numeric_limits<double>::quiet_NaN());
}

static_assert(std::is_convertible<std::vector<std::int64_t>, mode::labels>::value, "labels of 64 bits");
static_assert(!std::is_convertible<std::vector<std::int16_t>, mode::labels>::value, "mode.h has no such type");
static_assert(!std::is_convertible<std::vector<std::uint32_t>, mode::labels>::value, "mode.h has no such type");
static_assert(!std::is_convertible<std::vector<long double>, mode::labels>::value, "mode.h has no such type");
static_assert(!std::is_convertible<std::vector<bool>, mode::labels>::value, "it holds bits, not numbers");

// ------------------------------------------------------------------- errors

// An array that is not given is not an empty one; lengths differ, are below 0, or have a pointer that is NULL.
template <class T>
void test_lengths() {
    const events<T> e;
    const mode::options o = four_bins();
    const std::vector<T> none;
    std::vector<T> three(3);
    const mode::view<const T> null(static_cast<const T *>(nullptr), N), negative(e.score.data(), -1);
    const std::string not_64 = " has length 3, but score has length 64", is_null = " is NULL, but 64 elements are expected";
    mode::status s;
    const struct {
        mode::events<T> events;
        std::string message;
    } wrong[] = {{mode::events<T>(e.score, {}, three), "mass" + not_64},
                 {mode::events<T>(e.score, {}, negative), "mass has length -1, but score has length 64"},
                 {mode::events<T>(negative, {}, negative), "score has length -1, but one call takes at most 4294967295 elements"},
                 {mode::events<T>(null, {}, e.mass), "score" + is_null},
                 {mode::events<T>(e.score, {}, e.mass, none), "weight has length 0, but score has length 64"},
                 {mode::events<T>(e.score, {}, e.mass, null), "weight" + is_null},
                 {mode::events<T>(e.score, {e.label.data(), 3}, e.mass), "label" + not_64},
                 {mode::events<T>(e.score, {static_cast<const std::int32_t *>(nullptr), N}, e.mass), "label" + is_null}};
    for (const auto &one : wrong) {
        CHECK(std::isnan(mode::loss(o, one.events, {}, s)), "a loss");
        expect(s, MODE_ERROR_ARGUMENT, one.message);
    }
    CHECK(mode::edges(o, wrong[0].events, s).empty() && s.code() == MODE_ERROR_ARGUMENT, "edges");
    CHECK(mode::moments(o, wrong[0].events, {}, s).edges.empty() && s.code() == MODE_ERROR_ARGUMENT, "moments");
    CHECK(std::isfinite(mode::loss(o, mode::events<T>(e.score, {}, e.mass, {}, {}), {}, s)) && s.ok(), "%s", s.message());
    mode::loss(o, e.plain(), three, s), expect(s, MODE_ERROR_ARGUMENT, "grad" + not_64);
    mode::evaluate(o, e.plain(), {}, three, 0, s), expect(s, MODE_ERROR_ARGUMENT, "hess" + not_64);
    mode::loss(o, mode::events<T>(none, {}, none), {}, s);
    CHECK(s.code() == MODE_ERROR_TOO_FEW, "%s", s.message());
}

// A status tells of the call that was given it last, and of no other.
void test_status() {
    const events<double> e;
    const std::string message = "score[9] = NaN: every score of a selected event must be finite; "
        "look for NaN in the inputs of the classifier, or lower the learning rate";
    std::vector<double> score = e.score;
    score[9] = std::nan("");
    mode::status status;
    CHECK(status.ok() && status.code() == MODE_OK && !*status.message(), "%s", status.message());
    const double loss = mode::loss(four_bins(), mode::events<double>(score, {}, e.mass), {}, status);
    CHECK(std::isnan(loss), "%g", loss);
    expect(status, MODE_ERROR_NOT_FINITE, message);
    const mode::status copy = status;
    CHECK(mode_set_threads(-1) == MODE_ERROR_ARGUMENT, "an error of mode.h");
    expect(copy, MODE_ERROR_NOT_FINITE, message);
    mode::loss(four_bins(), e.plain(), {}, status);
    CHECK(status.ok() && !*status.message(), "%s", status.message());
}

static_assert(std::is_nothrow_move_constructible<mode::options>::value, "moves");
#if MODE_EXCEPTIONS
template <class Call>
void expect_error(const std::string &message, Call call) {
    try {
        call();
        CHECK(false, "no exception: %s", message.c_str());
    } catch (const std::runtime_error &error) {
        const mode::error *own = dynamic_cast<const mode::error *>(&error);
        CHECK(own && own->code() > 0 && error.what() == message, "\"%s\", want \"%s\"", error.what(), message.c_str());
    }
}

void test_exceptions() {
    const events<double> e;
    const std::vector<double> at = {0.5};
    std::vector<double> grad(N), push(N), state = mode::state();
    const mode::options o = mode::options().bins(65);
    const mode::events<double> plain = e.plain();
    const std::string few = "too few events: 64 selected events cannot fill bins = 65 quantile bins: use fewer bins or larger batches";
    expect_error(few, [&] { mode::loss(o, plain); });
    expect_error(few, [&] { mode::loss(o, plain, grad); });
    expect_error(few, [&] { mode::evaluate(o, plain, grad); });
    mode_constraint how = mode::constraint();
    how.strength = -1;
    expect_error("strength = -1: must be finite and above 0", [&] { mode::constrain(o, plain, how, state, push, grad); });
    expect_error(few, [&] { mode::edges(o, plain); });
    expect_error(few, [&] { mode::moments(o, plain, at); });
    expect_error("mass has length 3, but score has length 64", [&] { mode::loss(o, mode::events<double>(e.score, {}, std::vector<double>(3))); });
    expect_error("bins = -1 must be at least 1", [] { mode::options().bins(-1).check(); });
    four_bins().check();
}
#endif

// -------------------------------------------------------------- look inside

template <class T>
void test_edges_and_moments() {
    std::vector<double> many(4000);
    for (std::size_t i = 0; i < many.size(); i++) many[i] = static_cast<double>(i);
    const mode::events<double> of_many(many, {}, many);
    mode::status good;
    CHECK(mode::edges(mode::options().bins(100), of_many, good).size() == 101, "bins: %s", good.message());
    CHECK(mode::edges(mode::options().variables({mode::variable().bins(100)}), of_many, good).size() == 101, "variable: %s", good.message());

    const events<T> e;
    const events<double> in_double;
    const std::vector<double> at = {1, -0.5, 0.5};
    const mode::options o = four_bins().order(1).max_slope(0.01);
    const mode_options c = o.to_c();
    const mode::events<T> all = e.all();
    const mode::events<double> all_in_double = in_double.all();
    const mode_events_f64 doubles = all_in_double.to_c();
    mode::status status;
    const mode::table found = mode::moments(o, all, at, status);
    double edges[5], cdf[12], moments[6], bounded[6];
    mode_table t = mode_table();
    t.struct_size = sizeof t, t.n_at = 3, t.at = at.data(), t.capacity = 4;
    t.edges = edges, t.cdf = cdf, t.moments = moments, t.bounded = bounded;
    CHECK(!mode_table_f64(&c, &doubles, &t) && t.n_bins == 4, "%s", mode_last_error());
    CHECK(status.ok() && found.edges == std::vector<double>(edges, edges + 5), "%s", status.message());
    CHECK(mode::edges(o, all, status) == found.edges, "%s", status.message());
    CHECK(found.cdf == std::vector<double>(cdf, cdf + 12), "F_b");
    CHECK(found.moments == std::vector<double>(moments, moments + 6), "c_l");
    CHECK(found.bounded == std::vector<double>(bounded, bounded + 6) && found.bounded != found.moments, "c~_l");

    const mode::table failed = mode::moments(o, all, std::vector<double>{0.5, std::nan("")}, status);
    expect(status, MODE_ERROR_NOT_FINITE, "at[1] = NaN: must be a number");
    CHECK(failed.edges.empty() && failed.cdf.empty() && failed.moments.empty() && failed.bounded.empty(), "an empty table");
    const mode::table nowhere = mode::moments(o, all, std::vector<double>(), status);
    CHECK(status.ok() && nowhere.edges.size() == 5 && nowhere.cdf.empty() && nowhere.moments.empty(), "no scores");
#if MODE_EXCEPTIONS
    CHECK(mode::edges(o, all) == found.edges && mode::moments(o, all, at).cdf == found.cdf, "what throws");
#endif
}

} // namespace

int main() {
    test_defaults_are_those_of_the_library();
    test_setters();
    test_options_own_their_lists();
    test_results_are_those_of_c<float>();
    test_results_are_those_of_c<double>();
    test_direction<float>();
    test_events<float>();
    test_what_arrays_may_be();
    test_labels_of_every_type();
    test_lengths<float>();
    test_status();
#if MODE_EXCEPTIONS
    test_exceptions();
#endif
    test_edges_and_moments<float>();
    return finish();
}
