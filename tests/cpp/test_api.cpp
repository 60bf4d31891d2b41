// mode.hpp beyond the numbers: handles, arrays, errors. Compiled as C++11 and C++20, and without exceptions.
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

// A handle for options that are good.
mode::handle made(const std::string &options) {
    mode::status status;
    mode::handle m(options, status);
    CHECK(status.ok() && m.to_c(), "%s: %s", options.c_str(), status.message());
    return m;
}

void expect(const mode::status &status, int code, const std::string &message) {
    CHECK(status.code() == code && !status.ok(), "code %d, want %d", status.code(), code);
    CHECK(status.message() == message, "\"%s\", want \"%s\"", status.message(), message.c_str());
}

// ------------------------------------------------------------------ handles

static_assert(std::is_nothrow_move_constructible<mode::handle>::value && std::is_move_assignable<mode::handle>::value, "moves");
static_assert(!std::is_copy_constructible<mode::handle>::value, "a copy would free the handle twice");

void test_handles() {
    mode::handle m = made("order=1 bins=4"), other = made("");
    CHECK(m.text() == "order=1 bins=4" && other.text().empty(), "%s", m.text().c_str());
    other = std::move(m);
    CHECK(other.text() == "order=1 bins=4", "moved: %s", other.text().c_str());
    mode::status status;
    const mode::handle bad("order=17", status);
    expect(status, MODE_ERROR_OPTION, "order = 17 must be between 0 and 16");
    CHECK(bad.text().empty() && !bad.to_c(), "no handle");
    const events<double> e;
    CHECK(std::isnan(mode::loss(bad, e.all(), {}, status)) && status.code() == MODE_ERROR_ARGUMENT, "a loss without a handle");
    CHECK(mode::state(bad).empty(), "a state without a handle");
    mode::handle edges = made("");
    edges.set_edges(0, std::vector<double>{0, 20, 63}, status);
    CHECK(status.ok() && edges.text() == "edges=0,20,63", "%s", status.message());
    edges.set_edges(2, std::vector<double>{0, 20, 63}, status);
    CHECK(status.code() == MODE_ERROR_ARGUMENT && edges.text() == "edges=0,20,63", "%s", status.message());
}

// ------------------------------------------------------------------- arrays

template <class T>
void test_results_are_those_of_c() {
    const events<T> e;
    const mode::handle m = made("bins=4 order=1 strength=2");
    const mode::events<T> all = e.all();
    const mode_events arrays = all.to_c();
    std::vector<T> want_grad(N), want_hess(N), grad(N), hess(N);
    mode::result of_c = mode::result();
    of_c.size = sizeof of_c;
    of_c.hess = want_hess.data(), of_c.smoothing = 0.5, of_c.quality = 1;
    mode::status status;
    CHECK(!mode_loss(m.to_c(), &arrays, &of_c, want_grad.data()), "%s", mode_last_error());
    const double want = of_c.loss;
    CHECK(mode::loss(m, all, {}, status) == want && status.ok(), "%s", status.message());
    CHECK(mode::loss(m, all, grad, status) == want && grad == want_grad, "%s", status.message());
    CHECK(grad[5] == 0, "an event of another label: %g", static_cast<double>(grad[5]));
    grad.assign(N, 0);
    const mode::result found = mode::evaluate(m, all, grad, hess, 0.5, status);
    CHECK(found.loss == want && found.bias == of_c.bias && found.events == of_c.events, "%s", status.message());
    CHECK(grad == want_grad && hess == want_hess, "the derivatives");
    hess.assign(N, 0);
    CHECK(mode::evaluate(m, all, {}, hess, 0.5, status).loss == want && hess == want_hess, "%s", status.message());
    mode::averages averages = {};
    const double strengthened = mode::loss(m, all, grad, averages, status);
    CHECK(status.ok() && averages[0] == 1 && std::abs(strengthened / want - grad[3] / want_grad[3]) < 1e-5, "%s", status.message());
    T x[N], y[N];
    double value = 0;
    CHECK(!mode_distance_correlation(N, arrays.dtype, e.mass.data(), e.score.data(), e.weight.data(), 1, &value, x, y), "%s", mode_last_error());
    CHECK(mode::distance_correlation<T>(e.mass, e.score, e.weight, true, grad, hess, status) == value, "%s", status.message());
    CHECK(std::equal(x, x + N, grad.begin()) && std::equal(y, y + N, hess.begin()), "its derivatives");
#if __cpp_exceptions
    grad.assign(N, 0);
    CHECK(mode::loss(m, all) == want && mode::loss(m, all, grad) == want && grad == want_grad, "loss");
    CHECK(mode::evaluate(m, all).bias == of_c.bias, "evaluate");
#endif
}

void test_what_arrays_may_be() {
    const std::array<double, 4> score = {{0.1, 0.4, 0.3, 0.9}};
    std::vector<double> mass = {60, 70, 80, 90}, grad(4), other(4);
    const mode::handle options = made("bins=2");
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
void test_push() {
    const events<T> e;
    const mode::handle m = made("bins=4 order=1"), weak = made("bins=4 order=1 strength=1e-9 floor=1");
    mode::events<T> all = e.all();
    mode::status status;
    const std::vector<T> gradient(N, T(1));
    std::vector<T> grad = gradient, want(N), half(N / 2, T(1));
    std::vector<double> state = mode::state(m), other = state;
    CHECK(!mode_state_check(m.to_c(), state.data()), "%zu numbers", state.size());
    const mode_events arrays = all.to_c();
    CHECK(!mode_push(m.to_c(), &arrays, other.data(), gradient.data(), want.data()), "%s", mode_last_error());
    mode::push(m, all, state, grad, status);
    CHECK(status.ok() && state == other && grad == want && grad != gradient, "%g steps: %s", state[1], status.message());
    grad = gradient;
    mode::push(weak, all, {}, grad, status);
    for (std::size_t i = 0; i < N; i++) CHECK(std::abs(grad[i] - 1) < 1e-6, "event %zu: %g", i, static_cast<double>(grad[i]));
    mode::push(m, all.batch(N / 2), state, half, status);
    CHECK(status.ok() && state[1] == 2, "%s", status.message());
    mode::push(m, all, state, grad, status);
    expect(status, MODE_ERROR_ARGUMENT, "grad has length 64, but the batch has length 32");
    mode::push(m, all, {state.data(), 7}, half, status);
    expect(status, MODE_ERROR_ARGUMENT, "state has length 7, but a state has length 324");
}

// Events of several variables, each compared in length.
template <class T>
void test_events() {
    const events<T> e;
    const mode::handle options = made("bins=4 order=1");
    std::vector<std::int64_t> category(N, 3), short_category(3);
    const std::vector<T> three(3), *const mass = &e.mass;
    mode::status status;
    const double want = mode::loss(options, e.plain(), {}, status);
    CHECK(mode::loss(options, mode::events<T>(e.score, {}, {*mass}), {}, status) == want, "%s", status.message());
    CHECK(mode::loss(options, mode::events<T>(e.score, {}, {mass->data(), N}), {}, status) == want, "%s", status.message());

    const auto c = mode::events<T>(e.score, {}, {*mass, e.score, three}, {}, category).to_c();
    CHECK(c.size == sizeof c && c.n == N && c.n_mass == 3 && c.category == category.data(), "%d masses", c.n_mass);
    CHECK(c.category_type == MODE_INT64 && !c.weight && !c.label, "%d", c.category_type);

    mode::loss(options, mode::events<T>(e.score, {}, {e.mass, three}), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "mass[1] has length 3, but score has length 64");
    mode::loss(options, mode::events<T>(e.score, {}, e.mass, {}, short_category), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "category has length 3, but score has length 64");
    mode::loss(options, mode::events<T>(e.score, {}, e.mass, {}, e.weight), {}, status);
    CHECK(status.code() == MODE_ERROR_ARGUMENT, "categories are integers: %s", status.message());
    mode::loss(options, mode::events<T>(e.score, {}, {e.mass, e.mass, e.mass, e.mass}), {}, status);
    expect(status, MODE_ERROR_ARGUMENT, "mass has 1 to 3 variables");
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
    const mode::handle options = made("bins=4");
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
    const mode::handle o = made("bins=4");
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
    CHECK(mode::table_of(o, wrong[0].events, {}, s).edges.empty() && s.code() == MODE_ERROR_ARGUMENT, "a table");
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
    const double loss = mode::loss(made("bins=4"), mode::events<double>(score, {}, e.mass), {}, status);
    CHECK(std::isnan(loss), "%g", loss);
    expect(status, MODE_ERROR_NOT_FINITE, message);
    const mode::status copy = status;
    CHECK(mode_set_threads(-1) == MODE_ERROR_ARGUMENT, "an error of mode.h");
    expect(copy, MODE_ERROR_NOT_FINITE, message);
    mode::loss(made("bins=4"), e.plain(), {}, status);
    CHECK(status.ok() && !*status.message(), "%s", status.message());
}

#if __cpp_exceptions
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
    std::vector<double> grad(N), state = mode::state(made(""));
    const mode::handle m("bins=65");
    const mode::events<double> plain = e.plain();
    const std::string few = "too few events: 64 selected events cannot fill bins = 65 quantile bins: use fewer bins or larger batches";
    expect_error(few, [&] { mode::loss(m, plain); });
    expect_error(few, [&] { mode::loss(m, plain, grad); });
    expect_error(few, [&] { mode::evaluate(m, plain, grad); });
    expect_error(few, [&] { mode::table_of(m, plain, at); });
    state[0] = 7;
    expect_error("state[0] = 7: the version of the state, and this library reads version 3. Start with zeros, or continue with the version of "
                 "the library that wrote the state", [&] { mode::push(m, plain, state, grad); });
    expect_error("mass has length 3, but score has length 64", [&] { mode::loss(m, mode::events<double>(e.score, {}, std::vector<double>(3))); });
    expect_error("bins = -1 must be at least 1", [] { mode::handle("bins=-1"); });
}
#endif

// -------------------------------------------------------------- look inside

template <class T>
void test_tables() {
    const events<T> e;
    const std::vector<double> at = {1, -0.5, 0.5};
    const mode::handle o = made("bins=4 order=1 max_slope=0.01"), flat = made("bins=100");
    std::vector<double> many(4000);
    for (std::size_t i = 0; i < many.size(); i++) many[i] = static_cast<double>(i);
    mode::status status;
    const mode::table wide = mode::table_of(flat, mode::events<double>(many, {}, many), {}, status);
    CHECK(wide.edges.size() == 101 && wide.cdf.empty(), "bins: %s", status.message());
    const mode::events<T> all = e.all();
    const mode_events arrays = all.to_c();
    const mode::table found = mode::table_of(o, all, at, status);
    double edges[5], cdf[12], moments[6], bounded[6];
    mode_table t = mode_table();
    t.size = sizeof t, t.n_at = 3, t.at = at.data(), t.capacity = 4;
    t.edges = edges, t.cdf = cdf, t.moments = moments, t.bounded = bounded;
    CHECK(!mode_table_of(o.to_c(), &arrays, &t) && t.n_bins == 4, "%s", mode_last_error());
    CHECK(status.ok() && found.edges == std::vector<double>(edges, edges + 5), "%s", status.message());
    CHECK(found.cdf == std::vector<double>(cdf, cdf + 12), "F_b");
    CHECK(found.moments == std::vector<double>(moments, moments + 6), "c_l");
    CHECK(found.bounded == std::vector<double>(bounded, bounded + 6) && found.bounded != found.moments, "c~_l");
    CHECK(mode::table_of(made("bins=4"), all, at, status).moments.size() == 3, "order 0: %s", status.message());

    const mode::table failed = mode::table_of(o, all, std::vector<double>{0.5, std::nan("")}, status);
    expect(status, MODE_ERROR_NOT_FINITE, "at[1] = NaN: must be a number");
    CHECK(failed.edges.empty() && failed.cdf.empty() && failed.moments.empty() && failed.bounded.empty(), "an empty table");
    const mode::table nowhere = mode::table_of(o, all, std::vector<double>(), status);
    CHECK(status.ok() && nowhere.edges.size() == 5 && nowhere.cdf.empty() && nowhere.moments.empty(), "no scores");
#if __cpp_exceptions
    CHECK(mode::table_of(o, all).edges == found.edges && mode::table_of(o, all, at).cdf == found.cdf, "what throws");
#endif
}

} // namespace

int main() {
    test_handles();
    test_results_are_those_of_c<float>();
    test_results_are_those_of_c<double>();
    test_push<float>();
    test_events<float>();
    test_what_arrays_may_be();
    test_labels_of_every_type();
    test_lengths<float>();
    test_status();
#if __cpp_exceptions
    test_exceptions();
#endif
    test_tables<float>();
    return finish();
}
