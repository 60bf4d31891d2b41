/*
 * Bad input that a table of statements cannot have: values and numbers in a loop, and what may be NULL. Every call
 * returns the right status, leaves its results as they were, and names the argument, the value and the place. The
 * other sentences are those of test_error_table.c.
 */
#define _POSIX_C_SOURCE 200809L /* alarm */
#include <unistd.h>

#include "call.h"

static void test_values_that_are_not_finite(void) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static const char *const shown[] = {"NaN", "+Inf", "-Inf"}, *const names[] = {"score", "mass", "weight"};
    static const int places[] = {0, 5, N - 1};
    const int want = MODE_ERROR_NOT_FINITE;
    for (int k = 0; k < 27; k++) {
        const int array = k / 9, value = k / 3 % 3, i = places[k % 3];
        call c = good();
        single s;
        const mode_options *o = &c.options;
        const mode_events e = events_of(&c);
        const double at = 0.5;
        double *const arrays[] = {c.score, c.mass, c.weight};
        double grad[N], cdf[4];
        float grad_f[N];
        mode_result found = {-7, -7, -7};
        size_t n_edges = 7;
        char message[64];
        snprintf(message, sizeof message, "%s[%d] = %s", names[array], i, shown[value]);
        arrays[array][i] = bad[value];
        set_single(&s, &c);
        expect("f64", mode_evaluate_f64(o, &e, &found, NULL, NULL), want, message);
        expect("grad f64", mode_evaluate_f64(o, &e, &found, grad, NULL), want, message);
        expect("f32", mode_evaluate_f32(o, &s.events, &found, NULL, NULL), want, message);
        expect("grad f32", mode_evaluate_f32(o, &s.events, &found, grad_f, NULL), want, message);
        expect("moments", mode_moments_f64(o, &e, 1, &at, 4, cdf, NULL, NULL), want, message);
        if (arrays[array] == c.mass) expect("edges", mode_edges_f64(o, &e, N, grad, &n_edges), want, message);
        CHECK(found.loss == -7 && n_edges == 7, "%s: a result was written", message);
    }
}

static void test_at(void) {
    call c = good();
    const mode_events e = events_of(&c);
    const double at[3] = {-INFINITY, INFINITY, NAN};
    double cdf[8];
    CHECK(!mode_moments_f64(&c.options, &e, 2, at, 4, cdf, NULL, NULL), "%s", mode_last_error());
    CHECK(cdf[0] == 0 && cdf[4] == 1, "below the infinities: %g, %g", cdf[0], cdf[4]);
    expect("at", mode_moments_f64(&c.options, &e, 3, at, 4, cdf, NULL, NULL), MODE_ERROR_NOT_FINITE, "at[2] = NaN");
}

static void test_what_may_be_null(void) {
    call c = good();
    mode_events e = events_of(&c);
    mode_result found;
    size_t count = 7;
    e.weight = e.label = NULL;
    CHECK(!mode_options_check(NULL), "%s", mode_last_error());
    CHECK(!mode_evaluate_f64(NULL, &e, &found, NULL, NULL), "%s", mode_last_error());
    CHECK(!mode_moments_f64(NULL, &e, 0, NULL, 8, NULL, NULL, NULL), "%s", mode_last_error());
    e.score = NULL;
    CHECK(!mode_edges_f64(NULL, &e, 0, NULL, &count) && count == 9, "%s", mode_last_error());
}

static void test_numbers_of_events(void) {
    static const size_t many[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 32};
    static const char *const shown[] = {"18446744073709551615|4294967295", "9223372036854775807|4294967295", "4294967296|4294967295"};
    call c = good();
    single s;
    const mode_options *o = &c.options;
    mode_events e = events_of(&c);
    const void *const no_masses[] = {NULL};
    double grad[N];
    mode_result found = {-7, -7, -7};
    size_t count = 7;
    set_single(&s, &c);
    for (int k = 0; k < 4; k++) {
        const int want = k < 3 ? MODE_ERROR_ARGUMENT : MODE_ERROR_TOO_FEW;
        const char *parts = k < 3 ? shown[k] : "no event selected|empty";
        e.n = s.events.n = k < 3 ? many[k] : 0;
        expect("f32", mode_evaluate_f32(o, &s.events, &found, NULL, NULL), want, parts);
        expect("f64", mode_evaluate_f64(o, &e, &found, grad, NULL), want, parts);
        expect("edges", mode_edges_f64(o, &e, N, grad, &count), want, parts);
        expect("moments", mode_moments_f64(o, &e, 1, c.score, 4, grad, NULL, NULL), want, parts);
        if (k == 3) break;
        e.n = N;
        expect("n_at", mode_moments_f64(o, &e, many[k], c.score, 4, grad, NULL, NULL), want, parts);
    }
    CHECK(found.loss == -7 && count == 7, "a result was written");
    e.mass = no_masses;
    e.score = e.weight = e.label = NULL;
    expect("no events at all", mode_evaluate_f64(o, &e, &found, NULL, NULL), MODE_ERROR_TOO_FEW, "no event selected");
}

static void test_other_numbers(void) {
    call c = good();
    mode_options *o = &c.options;
    mode_events e = events_of(&c);
    const int bad = MODE_ERROR_ARGUMENT;
    double out[N];
    mode_result found;
    size_t count = 7;
    expect("size 1", mode_options_init(o, 1), bad, "options.struct_size = 1");
    expect("size -1", mode_options_init(o, SIZE_MAX), bad, "options.struct_size = 18446744073709551615");
    CHECK(o->bins == 4, "options were written");
    for (size_t capacity = 0; capacity < 5; capacity++) {
        char part[32];
        snprintf(part, sizeof part, "capacity = %zu|5 edges", capacity);
        expect("capacity", mode_edges_f64(o, &e, capacity, out, &count), bad, part);
        CHECK(count == 5, "the number needed is set all the same: %zu", count);
    }
    expect("n_bins -1", mode_moments_f64(o, &e, 1, c.score, SIZE_MAX, out, NULL, NULL), bad, "n_bins = 18446744073709551615|4 bins");
    e.label = NULL;
    e.label_type = 6;
    CHECK(!mode_evaluate_f64(o, &e, &found, NULL, NULL), "without labels their type means nothing: %s", mode_last_error());
    expect("threads -2^31", mode_set_threads(INT32_MIN), bad, "threads = -2147483648");
}

int main(void) {
    alarm(LIMIT);
    test_values_that_are_not_finite();
    test_at();
    test_what_may_be_null();
    test_numbers_of_events();
    test_other_numbers();
    return finish();
}
