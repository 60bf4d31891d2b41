/*
 * The C functions beyond the golden numbers: handles, what lies inside the loss, the
 * message of the last error, the number of threads, versions, and a forked child.
 */
#define _POSIX_C_SOURCE 200809L /* fork, alarm */
#include <sys/wait.h>
#include <unistd.h>

#include "../../capi/private.h"
#include "call.h"

/* ----------------------------------------------------------------- handles */

static void test_text(void) {
    static const char *const same[] = {"", "order=2 monotonic", "unbiased=false max_slope=0.5 mass_range=50,300 order=1",
                                       "bins=4;5 mass_range=50,300;none", "edges=1,2.5,1000 background_label=0;-2 strength=0.1"};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        mode_handle *const m = handle_of(same[k]), *const again = handle_of(mode_text(m));
        CHECK(strlen(mode_text(m)) == strlen(same[k]) && !strcmp(mode_text(m), mode_text(again)), "%s: %s", same[k], mode_text(m));
        mode_free(m);
        mode_free(again);
    }
    mode_handle *const null = handle_of(NULL);
    CHECK(!strcmp(mode_text(null), "") && !strcmp(mode_text(NULL), ""), "%s", mode_text(null));
    mode_free(null);
    expect_no_handle("oder=2", "oder=2: there is no option of this name; the nearest is order");
    expect_no_handle("order=17", "order = 17 must be between 0 and 16");
    expect_no_handle("order=1,5", "order = 1,5 must be an integer");
    expect_no_handle("max_slope=0,5 order=1", "max_slope = 0,5 must be a number");
}

/* What is no handle is found out, and what was freed. */
static void test_handles(void) {
    mode_handle *const first = handle_of(""), *const m = handle_of("order=1");
    CHECK(first != m && mode_state_size(m) > 0, "%s", mode_last_error());
    mode_free(m);
    mode_free(m);
    mode_free(NULL);
    mode_free((mode_handle *)(void *)&checks);
    CHECK(mode_state_size(m) == 0, "of a handle that was freed");
    check_message("freed", "is no handle of mode_new, or it was freed");
    CHECK(mode_text(m) == NULL && mode_text((mode_handle *)(void *)&checks) == NULL && mode_state_size(NULL) == 0, "no handles");
    CHECK(mode_state_size(first) > 0, "the other handle is still good: %s", mode_last_error());
    mode_free(first);
}

/* The losses of a handle with edges of a text and of one whose edges are set are the same. */
static void test_set_edges(void) {
    call c = good();
    const double edges[] = {0, 20, 30, 63}, others[] = {0, 1e-300, 64};
    mode_handle *const m = handle_of("order=1"), *const text = handle_of("order=1 edges=0,20,30,63");
    const mode_events e = events_of(&c);
    mode_result want = begun(), r = begun();
    CHECK(!mode_loss(m, &e, &r, NULL) && !mode_loss(text, &e, &want, NULL) && r.loss != want.loss, "%s", mode_last_error());
    expect("one", mode_set_edges(m, 0, 1, edges), MODE_ERROR_OPTION, "edges has length 1");
    CHECK(!strcmp(mode_text(m), "order=1"), "after an error: %s", mode_text(m));
    CHECK(!mode_set_edges(m, 0, 4, edges) && !mode_loss(m, &e, &r, NULL) && r.loss == want.loss, "%s", mode_last_error());
    CHECK(!strcmp(mode_text(m), mode_text(text)), "%s", mode_text(m));
    expect("three", mode_set_edges(m, 2, 3, others), MODE_ERROR_ARGUMENT, "variable = 2");
    CHECK(!mode_set_edges(m, 1, 3, others) && !mode_set_edges(m, 0, 3, edges), "%s", mode_last_error());
    CHECK(!strcmp(mode_text(m), "order=1 edges=0,20,30;0,1e-300,64"), "%s", mode_text(m));
    mode_free(m);
    mode_free(text);
}

/* The private table has the options of the header, each on a line of four. */
static void test_table(void) {
    const char *const table = mode_options_table();
    size_t lines = 0, tabs = 0;
    for (const char *at = table; *at; at++) lines += *at == '\n', tabs += *at == '\t';
    CHECK(lines > 16 && tabs == 3 * lines && strstr(table, "order\tinteger\t0\t") == table, "%s", table);
}

/* ------------------------------------------------------------------ events */

/* What is not wanted changes nothing of the rest. */
static void test_loss(void) {
    call c = good();
    single s;
    const mode_events e = events_of(&c);
    mode_handle *const m = handle_of(c.options);
    double want[N], grad[N], hess[N], other[N], w = 0, squares = 0;
    float grad_f[N];
    mode_result full = begun(), r = begun();
    for (int i = 0; i < N; i++) {
        c.weight[i] = 1 + i % 3;
        c.label[i] = i % 7 == 3;
        if (!c.label[i]) w += c.weight[i], squares += c.weight[i] * c.weight[i];
    }
    full.hess = hess, full.quality = 1;
    CHECK(!mode_loss(m, &e, &full, want), "%s", mode_last_error());
    CHECK(fabs(full.events - w * w / squares) < 1e-9 && full.bias > 0, "%.17g events, want %.17g", full.events, w * w / squares);
    r.quality = 1;
    CHECK(!mode_loss(m, &e, &r, grad) && r.loss == full.loss && r.bias == full.bias && r.events == full.events, "%.17g, %s", r.loss, mode_last_error());
    CHECK(!memcmp(grad, want, sizeof grad), "the gradient without hess");
    r = begun();
    r.hess = other;
    CHECK(!mode_loss(m, &e, &r, NULL) && !memcmp(hess, other, sizeof hess), "hess alone: %s", mode_last_error());
    r.smoothing = 0.5;
    CHECK(!mode_loss(m, &e, &r, NULL) && memcmp(hess, other, sizeof hess), "a wide window: %s", mode_last_error());
    memset(grad, 0, sizeof grad);
    r = begun();
    CHECK(!mode_loss(m, &e, &r, grad) && r.loss == full.loss && !memcmp(grad, want, sizeof grad), "the loss alone: %.17g", r.loss);
    CHECK(isnan(r.bias) && isnan(r.events), "bias and events were not asked for, and are no NaN: %g, %g", r.bias, r.events);
    set_single(&s, &c);
    CHECK(!mode_loss(m, &s.events, &r, grad_f) && fabs(r.loss - full.loss) < 1e-6, "%.9g, %s", r.loss, mode_last_error());
    for (int i = 0; i < N; i++) CHECK(fabs((double)grad_f[i] - want[i]) < 1e-6, "grad_f[%d] = %g, want %g", i, (double)grad_f[i], want[i]);
    mode_events plain = e;
    plain.label = plain.weight = NULL;
    CHECK(!mode_loss(m, &plain, &r, NULL) && r.loss != full.loss, "without labels and weights: %.9g", r.loss);
    mode_free(m);
}

/* The masses of several variables lie one after the other. */
static void test_variables(void) {
    call c = good();
    double two[2 * N];
    mode_events e = events_of(&c);
    mode_handle *const m = handle_of("bins=4");
    mode_result first = begun(), second = begun(), both = begun();
    for (int i = 0; i < N; i++) two[i] = c.mass[i], two[N + i] = (i * i) % 61;
    e.n_mass = 1; /* as 0 */
    CHECK(!mode_loss(m, &e, &first, NULL), "%s", mode_last_error());
    e.mass = two + N;
    CHECK(!mode_loss(m, &e, &second, NULL), "%s", mode_last_error());
    e.mass = two, e.n_mass = 2;
    CHECK(!mode_loss(m, &e, &both, NULL) && fabs(both.loss - (first.loss + second.loss) / 2) < 1e-12, "%g", both.loss);
    mode_free(m);
}

/* The loss times K |C|/|M|, over two batches of which the second has reference events. */
static void test_averages(void) {
    call c = good();
    mode_events e = events_of(&c);
    mode_handle *const plain = handle_of("bins=4"), *const m = handle_of("bins=4 strength=3");
    double want[N], grad[N], averages[3] = {0}, entropy[2] = {0}, square[2] = {0};
    mode_result r = begun(), alone = begun();
    alone.quality = r.quality = 1;
    for (int i = 0; i < N; i++) c.label[i] = i % 5 == 1;
    CHECK(!mode_loss(plain, &e, &alone, want), "%s", mode_last_error());
    CHECK(!mode_loss(m, &e, &r, grad) && r.loss == alone.loss, "without averages");
    int selected = 0, of_batch = 0;
    for (int i = 0; i < N; i++) {
        const double push = c.label[i] ? 0 : c.weight[i] / fmax(1 - c.score[i], 0.01);
        selected += !c.label[i];
        entropy[0] += push * push / N / N, square[0] += want[i] * want[i];
        if (i < N / 2) entropy[1] += push * push / (N / 2.) / (N / 2.), square[1] += want[i] * want[i], of_batch += !c.label[i];
    }
    r.averages = averages;
    double scale = 3 * sqrt(entropy[0] / square[0]);
    CHECK(!mode_loss(m, &e, &r, grad), "%s", mode_last_error());
    CHECK(fabs(r.loss - scale * alone.loss) < 1e-12 * fabs(r.loss) && fabs(r.bias - scale * alone.bias) < 1e-12 * r.bias && r.events == alone.events, "%g", r.loss);
    CHECK(averages[0] == 1 && fabs(averages[1] - sqrt(entropy[0])) < 1e-12, "%g", averages[1]);
    for (int i = 0; i < N; i++) CHECK(fabs(grad[i] - scale * want[i]) <= 1e-12 * fabs(grad[i]), "event %d", i);
    e.batch = N / 2;
    const double mean = (sqrt(square[0]) + sqrt(square[1]) * selected / of_batch) / 2;
    scale = 3 * (sqrt(entropy[0]) + sqrt(entropy[1])) / 2 / mean;
    CHECK(!mode_loss(m, &e, &r, NULL) && averages[0] == 2, "no gradient is wanted: %s", mode_last_error());
    CHECK(fabs(r.loss - scale * alone.loss) < 1e-12 * fabs(r.loss), "%g, want %g", r.loss, scale * alone.loss);
    mode_free(plain);
    mode_free(m);
}

/*
 * All scores are equal and there are two bins of n/2 events of weight 1, for which M is {1/2, -1/2; -1/2, 1/2} and so
 * h_i = 4/2 2/n 1/2 1/window.
 */
static void test_hess(void) {
    call c = good();
    single s;
    float hess[N];
    mode_handle *const m = handle_of("bins=2");
    mode_result r = begun();
    r.hess = hess;
    for (int i = 0; i < N; i++) c.score[i] = 0.25;
    set_single(&s, &c);
    for (double window = 0.25; window > 0.05; window -= 0.1875) { /* 1/4, and 1/16, the default */
        const double h = 2. / (double)N / window;
        r.smoothing = window > 0.1 ? window : 0;
        CHECK(!mode_loss(m, &s.events, &r, NULL), "%s", mode_last_error());
        for (int i = 0; i < N; i++) CHECK(fabs((double)hess[i] - h) < 1e-6 * h, "hess[%d] = %g, want %g", i, (double)hess[i], h);
    }
    mode_free(m);
}

/* The distance correlation is alike in both arrays; of two events at other places it is 1. */
static void test_distance_correlation(void) {
    call c = good();
    single s;
    double x[N], y[N], other_x[N], other_y[N], value, swapped, found;
    float y_f[N];
#define DISCO(n, ...) mode_distance_correlation(n, MODE_FLOAT64, __VA_ARGS__)
    for (int i = 0; i < N; i++) c.mass[i] = i * i % 91, c.weight[i] = i % 9 ? 1 + i % 4 : -0.5;
    set_single(&s, &c);
    CHECK(!DISCO(2, c.mass, c.score, NULL, 0, &value, x, y) && value == 1 && y[0] == 0, "%.17g, %s", value, mode_last_error());
    CHECK(!DISCO(N, c.mass, c.score, c.weight, 1, &found, x, y), "%s", mode_last_error());
    CHECK(!DISCO(N, c.score, c.mass, c.weight, 1, &swapped, other_y, other_x), "%s", mode_last_error());
    CHECK(fabs(swapped - found) < 1e-14, "%.17g, want %.17g", swapped, found);
    CHECK(!mode_distance_correlation(N, MODE_FLOAT32, s.mass, s.score, s.weight, 1, &value, NULL, y_f) && value == found, "%.17g", value);
    for (int i = 0; i < N; i++) {
        CHECK(fabs(x[i] - other_x[i]) < 1e-14 && fabs(y[i] - other_y[i]) < 1e-12, "event %d, the other way round", i);
        CHECK(y_f[i] == (float)y[i], "event %d in float: %g, want %g", i, (double)y_f[i], y[i]);
    }
    c.score[5] = INFINITY;
    expect("infinite", DISCO(N, c.mass, c.score, NULL, 0, &value, x, y), MODE_ERROR_NOT_FINITE, "y[5] = +Inf");
    expect("over x", DISCO(N, c.mass, c.weight, NULL, 0, &value, c.mass, y), MODE_ERROR_ARGUMENT, "grad_x overlaps x");
}

enum { STATE = 324 }; /* the length of one label's */

static void expect_state_size(const char *options, size_t want) {
    mode_handle *const m = handle_of(options);
    CHECK(mode_state_size(m) == want, "%s: %zu, want %zu: %s", options, mode_state_size(m), want, mode_last_error());
    mode_free(m);
}

static void test_state(void) {
    mode_handle *const m = handle_of("");
    double state[STATE] = {0};
    expect_state_size("", STATE);
    expect_state_size("categories=1", STATE);
    expect_state_size("background_label=0;1;5 categories=2", 4 + 6 * (STATE - 4));
    CHECK(!mode_state_check(m, state), "%s", mode_last_error());
    state[0] = 7;
    expect("another version", mode_state_check(m, state), MODE_ERROR_OPTION, "state[0] = 7: the version of the state, and this library reads version 3");
    mode_free(m);
}

/* The push of a batch, alone and after others, in one call and in two; reference events are counted in nothing. */
static void test_push(void) {
    call c = good();
    single s;
    mode_handle *const m = handle_of(c.options), *const logits = handle_of("bins=4 from_logits");
    double rows[4 * N], lesson[STATE], state[STATE] = {0}, before[STATE], gradient[N], result[N], again[N];
    float rows_f[4 * N];
    mode_events e = events_of(&c);
    CHECK(!mode_push_rows(m, &e, NULL, rows, lesson), "%s", mode_last_error());
    for (int i = 0; i < N; i++) {
        CHECK(rows[N + i] == 1 && rows[3 * N + i] == 0, "event %d, without signal: %g", i, rows[N + i]);
        CHECK(fabs(rows[2 * N + i] - c.score[i] * (1 - c.score[i])) < 1e-12, "event %d: %g", i, rows[2 * N + i]);
        gradient[i] = 1;
    }
#define APPLY(in, out, to, norms) mode_push_apply(N, MODE_FLOAT64, rows, lesson, STATE, in, out, to, norms)
    CHECK(!APPLY(gradient, result, NULL, NULL) && memcmp(result, gradient, sizeof result), "%s", mode_last_error());
    CHECK(!mode_push(m, &e, NULL, gradient, again) && !memcmp(result, again, sizeof result), "in one call: %s", mode_last_error());
    CHECK(!mode_push_rows(m, &e, state, rows, lesson) && !APPLY(gradient, result, state, NULL), "%s", mode_last_error());
    CHECK(state[0] == 3 && state[1] == 1 && state[2] == 1 && state[3] == 0, "%g steps", state[1]);
    memcpy(before, state, sizeof state);
    memset(state, 0, sizeof state);
    memcpy(again, gradient, sizeof again);
    CHECK(!mode_push(m, &e, state, again, again) && !memcmp(result, again, sizeof result) && !memcmp(state, before, sizeof state), "in place: %s", mode_last_error());
    gradient[3] = INFINITY;
    CHECK(!mode_push(m, &e, state, gradient, again) && !memcmp(state, before, sizeof state) && again[3] == INFINITY && again[2] == 1, "infinite: %s", mode_last_error());
    gradient[3] = 1;
    const double norm[1] = {NAN};
    CHECK(!APPLY(gradient, again, state, norm) && !memcmp(state, before, sizeof state) && again[2] == 1, "no norm");
    CHECK(!mode_push(m, &e, state, NULL, NULL) && state[1] == 2, "the lesson alone: %s", mode_last_error());
    e.batch = N / 2, again[N / 2] = -7;
    CHECK(!mode_push(m, &e, state, gradient, again) && state[1] == 3 && again[N / 2] == -7, "with reference events: %s", mode_last_error());
    e.batch = 0, state[19] = NAN;
    expect("state", mode_push(m, &e, state, gradient, again), MODE_ERROR_OPTION, "state[19] = NaN");
    mode_handle *const few = handle_of("bins=4 training_events=63");
    expect("too few", mode_push(few, &e, NULL, gradient, again), MODE_ERROR_OPTION, "training_events = 63");

    set_single(&s, &c);
    for (int i = 0; i < N; i++) s.score[i] = (float)log(c.score[i] / (1 - c.score[i]));
    CHECK(!mode_push_rows(logits, &s.events, NULL, rows_f, lesson), "%s", mode_last_error());
    CHECK(!mode_push_rows(m, &e, NULL, rows, lesson), "%s", mode_last_error());
    for (int i = 0; i < N; i++)
        CHECK(rows_f[2 * N + i] == 1 && fabs(rows_f[i] - rows[i] * rows[2 * N + i]) < 1e-4 * (1 + fabs(rows[i])), "event %d", i);
    mode_free(few);
    mode_free(m);
    mode_free(logits);
}

/* -------------------------------------------------------------- look inside */

/* Each output in the place of an argument or of another output: the call says both and writes nothing. core tests each pair of Go's
 * slices; here are the arrays, structs and numbers of C. */
static void test_overlaps(void) {
    call c = good();
    const call before = c;
    double x[N] = {0}, room[STATE] = {0}, rows[4 * N], lesson[STATE], value = -7;
    int64_t category[N] = {0};
    mode_handle *const m = handle_of("edges=0,21,42,63"), *const divided = handle_of("bins=4 categories=1");
    mode_events e = events_of(&c);
    mode_result r = begun();
    mode_table t;
    memset(&t, 0, sizeof t);
    t.size = sizeof t;
    e.category = category, e.category_type = MODE_INT64;
#define OVER(call, words) expect(#call, call, MODE_ERROR_ARGUMENT, words " in memory")
    OVER(mode_loss(m, &e, &r, c.label), "grad overlaps label");
    OVER(mode_loss(m, &e, &r, category), "grad overlaps category");
    OVER((r.hess = c.weight, mode_loss(m, &e, &r, NULL)), "hess overlaps weight");
    OVER((r.hess = x, mode_loss(m, &e, &r, x)), "hess overlaps grad");
    OVER((r.hess = NULL, r.averages = c.mass, mode_loss(m, &e, &r, x)), "averages overlaps mass");
    OVER((r.averages = x, mode_loss(m, &e, &r, x)), "averages overlaps grad");
    r.averages = NULL, memcpy(rows, &e, sizeof e);
    OVER(mode_loss(m, (mode_events *)(void *)rows, &r, rows), "grad overlaps events");
    e.score = room;
    r = begun();
    memcpy(room, &r, sizeof r);
    OVER(mode_loss(m, &e, (mode_result *)(void *)room, NULL), "result overlaps score");
    e.score = c.score;
    OVER(mode_push_rows(divided, &e, room, room, lesson), "rows overlaps state");
    OVER(mode_push_rows(divided, &e, NULL, rows, rows), "lesson overlaps rows");
    OVER(mode_push(divided, &e, room, x, room), "grad_out overlaps state");
    OVER(mode_push(divided, &e, room, room, x), "state overlaps grad_in");
    OVER(mode_push(divided, &e, room, c.mass, c.mass), "grad_out overlaps mass");
    OVER(mode_push(divided, &e, NULL, x, x + 1), "grad_out overlaps grad_in");
    OVER(mode_push_apply(N, MODE_FLOAT64, rows, lesson, STATE, x, rows, NULL, NULL), "grad_out overlaps rows");
    OVER(DISCO(N, c.mass, c.score, NULL, 0, c.score, NULL, NULL), "value overlaps y");
    OVER(DISCO(N, c.mass, c.score, NULL, 0, &value, x, x), "grad_y overlaps grad_x");
    e.category = NULL, t.at = x, t.n_at = 1, t.capacity = 3, x[0] = 0.5;
#define TABLE(output, at) (t.edges = t.cdf = t.moments = NULL, t.output = (at), mode_table_of(m, &e, &t))
    OVER(TABLE(edges, c.mass), "edges overlaps mass");
    OVER(TABLE(cdf, x), "cdf overlaps at");
    OVER(TABLE(moments, c.score), "moments overlaps score");
    t.bounded = room;
    OVER(TABLE(cdf, room), "bounded overlaps cdf");
    CHECK(!memcmp(&c, &before, sizeof c) && value == -7 && x[0] == 0.5 && !x[1], "something was written");
    mode_free(m);
    mode_free(divided);
}

static void test_edges(void) {
    call c = good();
    single s;
    mode_events e = events_of(&c);
    mode_handle *const m = handle_of(c.options), *const labels = handle_of("bins=4 background_label=0;1");
    double edges[5];
    mode_table t;
    memset(&t, 0, sizeof t);
    t.size = sizeof t;
    e.score = NULL; /* which is not looked at */
    CHECK(!mode_table_of(m, &e, &t) && t.n_bins == 4, "asking for the number: %zu", t.n_bins);
    t.capacity = 4, t.edges = edges;
    CHECK(!mode_table_of(m, &e, &t) && t.n_bins == 4, "%s", mode_last_error());
    CHECK(edges[0] == 0 && edges[1] == 15.5 && edges[2] == 31.5 && edges[3] == 47.5 && edges[4] == 63, "quantiles");
    set_single(&s, &c);
    memset(edges, 0, sizeof edges);
    CHECK(!mode_table_of(m, &s.events, &t) && edges[2] == 31.5, "of float: %g, %s", edges[2], mode_last_error());
    t.n_bins = 0, t.capacity = 3;
    expect("capacity", mode_table_of(m, &e, &t), MODE_ERROR_ARGUMENT, "capacity = |4 bins");
    CHECK(t.n_bins == 4, "the number needed is set all the same: %zu", t.n_bins);
    expect("two labels", mode_table_of(labels, &e, &t), MODE_ERROR_OPTION, "background_label|one at a time");
    mode_free(m);
    mode_free(labels);
}

static void test_moments(void) {
    call c = good();
    single s;
    const mode_events e = events_of(&c);
    mode_handle *const m = handle_of("bins=4 order=1 max_slope=0.01");
    const double at[3] = {1, -0.5, 0.5}, ends[2] = {-INFINITY, INFINITY};
    double edges[9], cdf[24], moments[6], bounded[6], of_float[12];
    mode_table t = {.size = sizeof t, .n_at = 3, .at = at, .capacity = 8, .edges = edges, .cdf = cdf, .moments = moments, .bounded = bounded};
    CHECK(!mode_table_of(m, &e, &t) && t.n_bins == 4 && edges[4] == 63, "%s", mode_last_error());
    for (int b = 0; b < 4; b++) {
        int below = 0;
        for (int i = 16 * b; i < 16 * b + 16; i++) below += c.score[i] <= at[2];
        CHECK(cdf[b] == 1 && cdf[4 + b] == 0 && cdf[8 + b] == below / 16.0, "bin %d: %g %g %g", b, cdf[b], cdf[4 + b], cdf[8 + b]);
    }
    CHECK(fabs(moments[0] - 1) < 1e-14 && fabs(moments[1]) < 1e-14, "everything below: %g %g", moments[0], moments[1]);
    CHECK(moments[2] == 0 && moments[3] == 0, "nothing below: %g %g", moments[2], moments[3]);
    CHECK(fabs(bounded[5] - 0.01 * moments[4] * tanh(moments[5] / (0.01 * moments[4]))) < 1e-16, "c_1 is: %g", bounded[5]);
    t.edges = t.moments = t.bounded = NULL, t.capacity = 4, t.cdf = of_float;
    set_single(&s, &c);
    CHECK(!mode_table_of(m, &s.events, &t), "%s", mode_last_error());
    CHECK(!memcmp(of_float, cdf, sizeof of_float), "of scores that float holds");
    t.capacity = 4, t.n_at = 2, t.at = ends, t.cdf = cdf;
    CHECK(!mode_table_of(m, &e, &t) && cdf[0] == 0 && cdf[4] == 1, "at infinity: %g, %g", cdf[0], cdf[4]);
    mode_free(m);
}

/* -------------------------------------------------------------- the library */

static void test_the_message_stays_until_the_next_error(void) {
    call c = good();
    expect("first", mode_set_threads(-1), MODE_ERROR_ARGUMENT, "threads");
    loss_of(&c);
    check_message("after a good call", "threads");
}

static void test_the_parts_of_a_message(void) {
    call c = good();
    mode_error parts = {.size = sizeof parts};
    double loss;
    c.score[5] = 2;
    expect("a score", evaluate(&c, &loss, NULL), MODE_ERROR_SCORE_RANGE, "score[5] = 2 lies outside");
    CHECK(!mode_last_error_parts(&parts) && parts.status == MODE_ERROR_SCORE_RANGE && parts.advice == MODE_ADVICE_SIGMOID, "%d", parts.advice);
    CHECK(parts.place == 5 && parts.name_at == 0 && parts.name_end == strlen("score"), "%d", (int)parts.place);
    CHECK(!strcmp(mode_last_error() + parts.advice_at, "apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]"), "%s", mode_last_error() + parts.advice_at);
    expect_no_handle("order=-1", "order = -1");
    CHECK(!mode_last_error_parts(&parts) && parts.place == -1 && !parts.name_end && parts.advice_at == strlen(mode_last_error()), "%d", (int)parts.place);
}

static void test_number_of_threads(void) {
    int before, now;
    CHECK(!mode_get_threads(&before) && before >= 1, "%d", before);
    CHECK(!mode_set_threads(3) && !mode_get_threads(&now) && now == 3, "%d", now);
    CHECK(!mode_set_threads(INT32_MAX) && !mode_get_threads(&now) && now == 1024, "%d", now);
    CHECK(!mode_set_threads(0) && !mode_get_threads(&now) && now == before, "%d, want %d", now, before);
}

static void test_versions(void) {
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    CHECK(mode_abi_version() == MODE_ABI_VERSION, "%d", mode_abi_version());
}

/* In a forked child every call that computes is an error. */
static int in_child(mode_handle *m) {
    call c = good();
    const mode_events e = events_of(&c);
    mode_result r = begun();
    const int want = MODE_ERROR_FORKED, before = failures;
    expect_no_handle("", "fork()|spawn");
    expect("loss", mode_loss(m, &e, &r, NULL), want, "fork()");
    expect("set_threads", mode_set_threads(1), want, "fork()");
    CHECK(!mode_state_size(m) && !mode_text(m) && !mode_options_table() && r.loss == 0, "a result in the child");
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    mode_free(m); /* does not hang */
    return failures - before;
}

static void test_fork(void) {
    call c = good();
    int status = -1;
    mode_handle *const m = handle_of(c.options);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LIMIT); /* not inherited */
        _exit(in_child(m) != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child's wait status is %d", status);
    CHECK(isfinite(loss_of(&c)) && !strcmp(mode_text(m), c.options), "the parent goes on");
    mode_free(m);
}

int main(void) {
    CHECK(!strcmp(mode_last_error(), ""), "a message before any error: %s", mode_last_error());
    test_versions();
    test_text();
    test_handles();
    test_set_edges();
    test_table();
    test_loss();
    test_variables();
    test_averages();
    test_hess();
    test_distance_correlation();
    test_state();
    test_push();
    test_overlaps();
    test_edges();
    test_moments();
    test_the_message_stays_until_the_next_error();
    test_the_parts_of_a_message();
    test_number_of_threads();
    test_fork();
    return finish();
}
