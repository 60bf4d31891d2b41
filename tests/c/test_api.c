/*
 * The C functions beyond the numbers: defaults, what lies inside the loss, the
 * message of the last error, the number of threads, versions, and a forked child.
 */
#define _POSIX_C_SOURCE 200809L /* fork, alarm */
#include <sys/wait.h>
#include <unistd.h>

#include "../../capi/private.h"
#include "call.h"

/* ---------------------------------------------------------------- defaults */

static void test_defaults(void) {
    mode_options o;
    memset(&o, 0xff, sizeof o);
    CHECK(mode_options_init(&o, sizeof o) == MODE_OK, "%s", mode_last_error());
    CHECK(o.struct_size == sizeof o && !o.order && !o.bins && o.binning == MODE_BINNING_QUANTILE, "order, bins");
    CHECK(o.moments == MODE_MOMENTS_PROJECTION && o.slope_of == MODE_SLOPE_OF_REJECTED && o.reduction == MODE_REDUCTION_MEAN, "choices");
    CHECK(!o.monotonic && o.unbiased == 1 && o.max_slope == INFINITY && o.slope_penalty == 0, "slopes");
    CHECK(o.mass_range[0] == -INFINITY && o.mass_range[1] == INFINITY && o.score_range[0] == 0 && o.score_range[1] == 1, "ranges");
    CHECK(!o.joint && o.missing == MODE_MISSING_ERROR, "several variables");
    CHECK(!o.n_edges && !o.n_background_label && !o.n_variables, "lists");
    CHECK(mode_options_check(&o) == MODE_OK && mode_options_check(NULL) == MODE_OK, "%s", mode_last_error());
}

/* The table of options is that of the members of mode_options. */
static void test_table(void) {
#define AT(name) {#name, offsetof(mode_options, name)}
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {AT(order), AT(bins), AT(binning), AT(moments), AT(slope_of), AT(reduction), AT(monotonic),
                   AT(unbiased), AT(joint), AT(missing), AT(max_slope), AT(slope_penalty), AT(mass_range),
                   AT(score_range), AT(edges), AT(variables), AT(background_label)};
    mode_option row;
    BEGIN(row);
    size_t count = 0;
    CHECK(!mode_option_count(&count) && count == sizeof members / sizeof *members, "%zu options", count);
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        CHECK(!mode_option_at(k, &row) && !strcmp(row.name, members[k].name) && row.offset == members[k].offset, "%s at %zu", row.name, row.offset);
}

static void test_variable(void) {
    mode_variable v;
    memset(&v, 0xff, sizeof v);
    CHECK(mode_variable_init(&v, sizeof v) == MODE_OK && v.struct_size == sizeof v, "%s", mode_last_error());
    CHECK(v.bins == 0 && v.mass_range[0] == -INFINITY && v.mass_range[1] == INFINITY, "bins, mass_range");
    CHECK(!v.edges && !v.n_edges && !v.reserved[0] && !v.reserved[3], "edges");
}

static void test_null_options_are_the_defaults(void) {
    call c = good();
    double without = NAN;
    mode_options_init(&c.options, sizeof c.options);
    CHECK(!mode_loss_f64(NULL, c.n, c.score, c.label, c.mass, c.weight, &without, NULL), "%s", mode_last_error());
    CHECK(loss_of(&c) == without, "%.17g", without);
}

/* ------------------------------------------------------------------ events */

/* What is not wanted changes nothing of the rest. */
static void test_evaluate(void) {
    call c = good();
    single s;
    mode_events_f64 e = events_of(&c);
    double want[N], grad[N], hess[N], other[N], loss, w = 0, squares = 0;
    float grad_f[N];
    mode_result_f64 full, r;
    mode_result_f32 r_f;
    BEGIN(full);
    BEGIN(r_f);
    for (int i = 0; i < N; i++) {
        c.weight[i] = 1 + i % 3;
        c.label[i] = i % 7 == 3;
        if (!c.label[i]) w += c.weight[i], squares += c.weight[i] * c.weight[i];
    }
    full.grad = want, full.hess = hess, full.quality = 1;
    CHECK(!mode_evaluate_f64(&c.options, &e, &full), "%s", mode_last_error());
    CHECK(fabs(full.events - w * w / squares) < 1e-9 && full.bias > 0, "%.17g events, want %.17g", full.events, w * w / squares);
    BEGIN(r);
    r.grad = grad, r.quality = 1;
    CHECK(!mode_evaluate_f64(&c.options, &e, &r) && r.loss == full.loss && r.bias == full.bias && r.events == full.events, "%.17g, %s", r.loss, mode_last_error());
    CHECK(!memcmp(grad, want, sizeof grad), "the gradient without hess");
    BEGIN(r);
    r.hess = other;
    CHECK(!mode_evaluate_f64(&c.options, &e, &r) && !memcmp(hess, other, sizeof hess), "hess alone: %s", mode_last_error());
    r.smoothing = 0.5;
    CHECK(!mode_evaluate_f64(&c.options, &e, &r) && memcmp(hess, other, sizeof hess), "a wide window: %s", mode_last_error());
    memset(grad, 0, sizeof grad);
    CHECK(!evaluate(&c, &loss, grad) && loss == full.loss && !memcmp(grad, want, sizeof grad), "mode_loss_f64: %.17g, %s", loss, mode_last_error());
    memset(grad, 0, sizeof grad);
    BEGIN(r);
    r.grad = grad;
    CHECK(!mode_evaluate_f64(&c.options, &e, &r) && r.loss == full.loss && !memcmp(grad, want, sizeof grad), "the loss alone: %.17g", r.loss);
    CHECK(isnan(r.bias) && isnan(r.events), "bias and events were not asked for, and are no NaN: %g, %g", r.bias, r.events);
    set_single(&s, &c);
    r_f.grad = grad_f;
    CHECK(!mode_evaluate_f32(&c.options, &s.events, &r_f) && fabs(r_f.loss - full.loss) < 1e-6, "%.9g, %s", r_f.loss, mode_last_error());
    for (int i = 0; i < N; i++) CHECK(fabs((double)grad_f[i] - want[i]) < 1e-6, "grad_f[%d] = %g, want %g", i, (double)grad_f[i], want[i]);
    CHECK(!mode_loss_f32(&c.options, N, s.score, c.label, s.mass, s.weight, &loss, NULL) && loss == r_f.loss, "%.9g, %s", loss, mode_last_error());
    CHECK(!mode_loss_f64(&c.options, N, c.score, NULL, c.mass, NULL, &loss, NULL) && loss != full.loss, "without labels and weights: %.9g", loss);
}

static void test_strengthen(void) {
    call c = good();
    mode_events_f64 e = events_of(&c);
    double loss, grad[N], averages[3] = {0}, entropy = 0, square = 0;
    mode_strength strength = {.struct_size = sizeof strength, .strength = 3, .averages = averages};
    CHECK(!evaluate(&c, &loss, grad), "%s", mode_last_error());
    for (int i = 0; i < N; i++) {
        const double push = c.label[i] ? 0 : c.weight[i] / fmax(1 - c.score[i], 0.01) / (double)N;
        entropy += push * push;
        square += grad[i] * grad[i];
    }
    const double first = grad[0];
    CHECK(!mode_strengthen_f64(&c.options, &e, &strength, grad), "%s", mode_last_error());
    CHECK(fabs(strength.scale - 3 * sqrt(entropy / square)) < 1e-12 * strength.scale, "%g", strength.scale);
    CHECK(averages[0] == 1 && fabs(averages[1] - sqrt(entropy)) < 1e-12 && fabs(grad[0] - first * strength.scale) <= 1e-12 * fabs(grad[0]), "%g", averages[1]);
    float grad_f[N] = {1};
    single s;
    set_single(&s, &c);
    CHECK(!mode_strengthen_f32(&c.options, &s.events, &strength, grad_f) && averages[0] == 2, "%s", mode_last_error());
    strength.batch = N + 1;
    expect("a batch", mode_strengthen_f64(&c.options, &e, &strength, grad), MODE_ERROR_ARGUMENT, "is more than the n");
    strength.batch = 0, averages[1] = NAN;
    expect("NaN", mode_strengthen_f64(&c.options, &e, &strength, grad), MODE_ERROR_OPTION, "averages[1] = NaN: must be finite and at least 0");
    strength.averages = NULL;
    expect("no averages", mode_strengthen_f64(&c.options, &e, &strength, grad), MODE_ERROR_ARGUMENT, "averages is NULL");
}

/*
 * All scores are equal and there are two bins of n/2 events of weight 1, for which M is {1/2, -1/2; -1/2, 1/2} and so
 * h_i = 4/2 2/n 1/2 1/window.
 */
static void test_hess(void) {
    call c = good();
    single s;
    float hess[N];
    mode_result_f32 r;
    BEGIN(r);
    r.hess = hess;
    mode_options_init(&c.options, sizeof c.options);
    c.options.bins = 2;
    for (int i = 0; i < N; i++) c.score[i] = 0.25;
    set_single(&s, &c);
    for (double window = 0.25; window > 0.05; window -= 0.1875) { /* 1/4, and 1/16, the default */
        const double h = 2. / (double)N / window;
        r.smoothing = window > 0.1 ? window : 0;
        CHECK(!mode_evaluate_f32(&c.options, &s.events, &r), "%s", mode_last_error());
        for (int i = 0; i < N; i++) CHECK(fabs((double)hess[i] - h) < 1e-6 * h, "hess[%d] = %g, want %g", i, (double)hess[i], h);
    }
}

/* The distance correlation is alike in both arrays; of two events at other places it is 1. */
static void test_distance_correlation(void) {
    call c = good();
    single s;
    double x[N], y[N], other_x[N], other_y[N], value, swapped, found;
    float y_f[N];
    for (int i = 0; i < N; i++) c.mass[i] = i * i % 91, c.weight[i] = i % 9 ? 1 + i % 4 : -0.5;
    set_single(&s, &c);
    CHECK(!mode_distance_correlation_f64(2, c.mass, c.score, NULL, 0, &value, x, y) && value == 1 && y[0] == 0, "%.17g, %s", value, mode_last_error());
    CHECK(!mode_distance_correlation_f64(N, c.mass, c.score, c.weight, 1, &found, x, y), "%s", mode_last_error());
    CHECK(!mode_distance_correlation_f64(N, c.score, c.mass, c.weight, 1, &swapped, other_y, other_x), "%s", mode_last_error());
    CHECK(fabs(swapped - found) < 1e-14, "%.17g, want %.17g", swapped, found);
    CHECK(!mode_distance_correlation_f32(N, s.mass, s.score, s.weight, 1, &value, NULL, y_f) && value == found, "%.17g", value);
    for (int i = 0; i < N; i++) {
        CHECK(fabs(x[i] - other_x[i]) < 1e-14 && fabs(y[i] - other_y[i]) < 1e-12, "event %d, the other way round", i);
        CHECK(y_f[i] == (float)y[i], "event %d in float: %g, want %g", i, (double)y_f[i], y[i]);
    }
    c.score[5] = INFINITY;
    expect("infinite", mode_distance_correlation_f64(N, c.mass, c.score, NULL, 0, &value, x, y), MODE_ERROR_NOT_FINITE, "y[5] = +Inf");
    expect("no x", mode_distance_correlation_f64(N, NULL, c.score, NULL, 0, &value, x, y), MODE_ERROR_ARGUMENT, "x is NULL|64 elements");
    expect("over x", mode_distance_correlation_f64(N, c.mass, c.weight, NULL, 0, &value, c.mass, y), MODE_ERROR_ARGUMENT, "grad_x overlaps x");
    expect("no value", mode_distance_correlation_f64(N, c.mass, c.score, NULL, 0, NULL, x, y), MODE_ERROR_ARGUMENT, "value is NULL");
}

enum { N_STATE = 300 }; /* of one label */

static size_t state_size(size_t labels, size_t categories) {
    size_t size = 0;
    CHECK(!mode_state_size(labels, categories, &size), "%s", mode_last_error());
    return size;
}

/* The rows of doubles, over room for them. */
static mode_rows_f64 rows_in(double *room, double *lesson) {
    return (mode_rows_f64){.struct_size = sizeof(mode_rows_f64), .push = room, .multiplier = room + N, .slope = room + 2 * N, .part = room + 3 * N, .lesson = lesson};
}

/* The push of a batch, alone and after others; reference events are counted in nothing. */
static void test_direction(void) {
    call c = good();
    single s;
    mode_constraint how;
    double room[4 * N], lesson[N_STATE], state[N_STATE] = {0}, before[N_STATE], gradient[N], result[N], again[N];
    mode_rows_f64 rows = rows_in(room, lesson);
    float room_f[4 * N];
    mode_rows_f32 rows_f = {.struct_size = sizeof rows_f, .push = room_f, .multiplier = room_f + N, .slope = room_f + 2 * N, .part = room_f + 3 * N, .lesson = lesson};
    const mode_events_f64 e = events_of(&c);
    BEGIN(how);
    CHECK(state_size(1, 0) == N_STATE && state_size(1, 1) == N_STATE && state_size(3, 2) == 4 + 6 * (N_STATE - 4), "%zu", state_size(1, 0));
    const size_t too_many[][2] = {{0, 0}, {SIZE_MAX, 0}, {SIZE_MAX / 2, 1}, {1, SIZE_MAX / 200}, {(size_t)1 << 32, (size_t)1 << 31}};
    for (size_t k = 0, size = 7; k < sizeof too_many / sizeof *too_many; k++) {
        expect("no state", mode_state_size(too_many[k][0], too_many[k][1], &size), MODE_ERROR_ARGUMENT, "labels = ");
        CHECK(size == 7, "%zu", size);
    }
    expect("no size", mode_state_size(1, 0, NULL), MODE_ERROR_ARGUMENT, "size is NULL");
    CHECK(!mode_state_check(state, N_STATE, 1, 0), "%s", mode_last_error());
    expect("a short state", mode_state_check(state, 5, 1, 0), MODE_ERROR_ARGUMENT, "state has length 5");
    state[0] = 7;
    expect("another version", mode_state_check(state, N_STATE, 1, 0), MODE_ERROR_OPTION, "state[0] = 7: the version of the state, and this library reads version 2");
    state[0] = 0;
#define PUSH mode_constraint_push_f64(&c.options, &e, &how, &rows)
    expect("no lesson", PUSH, MODE_ERROR_ARGUMENT, "lesson has length 0, and must have the 300 of a state");
    how.n_state = N_STATE;
    CHECK(!PUSH, "%s", mode_last_error());
    for (int i = 0; i < N; i++) {
        CHECK(rows.multiplier[i] == 1 && rows.part[i] == 0, "event %d, without signal: %g", i, rows.multiplier[i]);
        CHECK(fabs(rows.slope[i] - c.score[i] * (1 - c.score[i])) < 1e-12, "event %d: %g", i, rows.slope[i]);
        gradient[i] = 1;
    }
#define APPLY(in, out, to) mode_constraint_apply_f64(N, &rows, in, out, to, N_STATE, NULL)
    CHECK(!APPLY(gradient, result, NULL) && memcmp(result, gradient, sizeof result), "%s", mode_last_error());
    CHECK(!APPLY(gradient, again, state) && !memcmp(result, again, sizeof result), "of the first batch: %s", mode_last_error());
    CHECK(state[MODE_STATE_VERSION] == MODE_STATE_LAYOUT && state[MODE_STATE_STEPS] == 1 && state[MODE_STATE_MASSES] == 1 && state[MODE_STATE_CATEGORIES] == 0, "%g steps", state[1]);
    memcpy(again, gradient, sizeof again);
    CHECK(!APPLY(again, again, NULL) && !memcmp(result, again, sizeof result), "in place: %s", mode_last_error());
    memcpy(before, state, sizeof state);
    gradient[3] = INFINITY;
    CHECK(!APPLY(gradient, again, state) && !memcmp(state, before, sizeof state) && again[3] == INFINITY && again[2] == 1, "infinite: %s", mode_last_error());
    gradient[3] = 1;
    const double norm[1] = {NAN};
    CHECK(!mode_constraint_apply_f64(N, &rows, gradient, again, state, N_STATE, norm) && !memcmp(state, before, sizeof state) && again[2] == 1, "no norm");
    expect("result", APPLY(gradient, NULL, state), MODE_ERROR_ARGUMENT, "result is NULL");
    expect("gradient", APPLY(NULL, again, state), MODE_ERROR_ARGUMENT, "gradient is NULL");
    CHECK(!APPLY(NULL, NULL, state) && state[MODE_STATE_STEPS] == 2, "the lesson alone: %s", mode_last_error());
    how.state = state, how.strength = 8, how.batch = N / 2;
    CHECK(!PUSH && state[MODE_STATE_STEPS] == 2, "%s", mode_last_error());
    how.batch = N + 1;
    expect("batch", PUSH, MODE_ERROR_ARGUMENT, "batch");
    how.batch = 0, how.n_state = 3;
    expect("n_state", PUSH, MODE_ERROR_ARGUMENT, "state has length 3, and must have 300");
    how.n_state = N_STATE, how.training_events = N - 1;
    expect("too few", PUSH, MODE_ERROR_OPTION, "training_events = ");
    how.training_events = 0, how.strength = -1;
    expect("strength", PUSH, MODE_ERROR_OPTION, "strength = -1: must be finite and above 0");
    how.strength = 0, state[19] = NAN;
    expect("state", PUSH, MODE_ERROR_OPTION, "state[19] = NaN");
    expect("no constraint", mode_constraint_push_f64(&c.options, &e, NULL, &rows), MODE_ERROR_ARGUMENT, "constraint is NULL");
    rows.push = NULL;
    how.state = NULL;
    expect("no push", PUSH, MODE_ERROR_ARGUMENT, "push is NULL");
    rows = rows_in(room, lesson);
    CHECK(!PUSH, "%s", mode_last_error());

    set_single(&s, &c);
    BEGIN(how);
    how.logits = 1, how.n_state = N_STATE;
    for (int i = 0; i < N; i++) s.score[i] = (float)log(c.score[i] / (1 - c.score[i]));
    CHECK(!mode_constraint_push_f32(&c.options, &s.events, &how, &rows_f), "%s", mode_last_error());
    for (int i = 0; i < N; i++)
        CHECK(rows_f.slope[i] == 1 && fabs(rows_f.push[i] - rows.push[i] * rows.slope[i]) < 1e-4 * (1 + fabs(rows.push[i])), "event %d", i);
}

/* -------------------------------------------------------------- look inside */

/* Each output in the place of an argument or of another output: the call says both and writes nothing. core tests each pair of Go's
 * slices; here are the arrays, structs and numbers of C. */
static void test_overlaps(void) {
    call c = good(), before;
    double x[N], room[N_STATE] = {0}, value = -7;
    int64_t category[N] = {0};
    double *const own = (double *)(void *)category;
    mode_events_f64 e;
    mode_result_f64 r;
    mode_constraint how;
    double rows_room[4 * N], lesson[N_STATE];
    mode_rows_f64 to = rows_in(rows_room, lesson);
    mode_table t;
    give_labels(&c, 1);
    c.options.edges = c.edges, c.options.n_edges = 4, c.options.bins = 0, c.options.binning = MODE_BINNING_EDGES;
    for (int i = 0; i < 4; i++) c.edges[i] = 21 * i;
    e = events_of(&c);
    e.category = category, e.category_type = MODE_LABEL_INT64;
    BEGIN(r);
    BEGIN(how);
    BEGIN(t);
    before = c;
#define OVER(call, words) expect(#call, call, MODE_ERROR_ARGUMENT, words " in memory")
#define LOSS(loss, grad) mode_loss_f64(&c.options, N, c.score, c.label, c.mass, c.weight, loss, grad)
    OVER(LOSS(c.mass, NULL), "loss overlaps mass");
    OVER(LOSS(room, room), "loss overlaps grad");
#define GRAD(at) (r.grad = (at), mode_evaluate_f64(&c.options, &e, &r))
    OVER(GRAD((double *)(void *)c.label), "grad overlaps label");
    OVER(GRAD(own), "grad overlaps category");
    c.options.background_label = (int32_t *)(void *)room;
    OVER(GRAD(room), "grad overlaps background_label");
    OVER((r.grad = NULL, r.hess = c.weight, mode_evaluate_f64(&c.options, &e, &r)), "hess overlaps weight");
    OVER((r.grad = r.hess = x, mode_evaluate_f64(&c.options, &e, &r)), "hess overlaps grad");
    e.score = room;
    BEGIN(r);
    memcpy(room, &r, sizeof r);
    OVER(mode_evaluate_f64(&c.options, &e, (mode_result_f64 *)(void *)room), "result overlaps score");
    e.score = c.score;
    give_labels(&c, 1);
    how.n_state = N_STATE;
    to.push = c.weight;
    OVER(mode_constraint_push_f64(&c.options, &e, &how, &to), "push overlaps weight");
    to.push = room, how.state = room;
    OVER(mode_constraint_push_f64(&c.options, &e, &how, &to), "push overlaps state");
    OVER(mode_distance_correlation_f64(N, c.mass, c.score, NULL, 0, c.score, NULL, NULL), "value overlaps y");
    OVER(mode_distance_correlation_f64(N, c.mass, c.score, NULL, 0, &value, x, x), "grad_y overlaps grad_x");
    e.category = NULL, t.at = x, t.n_at = 1, t.capacity = 3, x[0] = 0.5;
#define TABLE(output, at) (t.edges = t.cdf = t.moments = NULL, t.output = (at), mode_table_f64(&c.options, &e, &t))
    OVER(TABLE(edges, c.mass), "edges overlaps mass");
    OVER(TABLE(cdf, x), "cdf overlaps at");
    OVER(TABLE(moments, c.score), "moments overlaps score");
    t.bounded = room;
    OVER(TABLE(cdf, room), "bounded overlaps cdf");
    CHECK(!memcmp(&c, &before, sizeof c - sizeof c.masses) && value == -7 && x[0] == 0.5, "something was written");
}

static void test_edges(void) {
    call c = good();
    single s;
    mode_events_f64 e = events_of(&c);
    double edges[5];
    mode_table t;
    BEGIN(t);
    e.score = NULL; /* which is not looked at */
    CHECK(!mode_table_f64(&c.options, &e, &t) && t.n_bins == 4, "asking for the number: %zu", t.n_bins);
    t.capacity = 4, t.edges = edges;
    CHECK(!mode_table_f64(&c.options, &e, &t) && t.n_bins == 4, "%s", mode_last_error());
    CHECK(edges[0] == 0 && edges[1] == 15.5 && edges[2] == 31.5 && edges[3] == 47.5 && edges[4] == 63, "quantiles");
    set_single(&s, &c);
    memset(edges, 0, sizeof edges);
    CHECK(!mode_table_f32(&c.options, &s.events, &t) && edges[2] == 31.5, "of float: %g, %s", edges[2], mode_last_error());
    t.n_bins = 0, t.capacity = 3;
    expect("capacity", mode_table_f64(&c.options, &e, &t), MODE_ERROR_ARGUMENT, "capacity = |4 bins");
    CHECK(t.n_bins == 4, "the number needed is set all the same: %zu", t.n_bins);
    give_labels(&c, 2);
    c.background[1] = 1;
    expect("two labels", mode_table_f64(&c.options, &e, &t), MODE_ERROR_OPTION, "background_label|one at a time");
}

static void test_moments(void) {
    call c = good();
    single s;
    const mode_events_f64 e = events_of(&c);
    const double at[3] = {1, -0.5, 0.5}, ends[2] = {-INFINITY, INFINITY};
    double edges[9], cdf[24], moments[6], bounded[6], of_float[12];
    mode_table t;
    BEGIN(t);
    t.n_at = 3, t.at = at, t.capacity = 8, t.edges = edges, t.cdf = cdf, t.moments = moments, t.bounded = bounded;
    c.options.order = 1;
    c.options.max_slope = 0.01;
    CHECK(!mode_table_f64(&c.options, &e, &t) && t.n_bins == 4 && edges[4] == 63, "%s", mode_last_error());
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
    CHECK(!mode_table_f32(&c.options, &s.events, &t), "%s", mode_last_error());
    CHECK(!memcmp(of_float, cdf, sizeof of_float), "of scores that float holds");
    t.n_bins = 0, t.capacity = 3;
    expect("capacity", mode_table_f64(&c.options, &e, &t), MODE_ERROR_ARGUMENT, "capacity = 3|4 bins");
    CHECK(t.n_bins == 4, "the number needed is set all the same: %zu", t.n_bins);
    t.capacity = 4, t.n_at = 2, t.at = ends, t.cdf = cdf;
    CHECK(!mode_table_f64(&c.options, &e, &t) && cdf[0] == 0 && cdf[4] == 1, "at infinity: %g, %g", cdf[0], cdf[4]);
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
    mode_error parts = {.struct_size = sizeof parts};
    double loss;
    c.score[5] = 2;
    expect("a score", evaluate(&c, &loss, NULL), MODE_ERROR_SCORE_RANGE, "score[5] = 2 lies outside");
    CHECK(!mode_last_error_parts(&parts) && parts.status == MODE_ERROR_SCORE_RANGE && parts.advice == MODE_ADVICE_SIGMOID, "%d", parts.advice);
    CHECK(parts.place == 5 && parts.name_at == 0 && parts.name_end == strlen("score"), "%d", (int)parts.place);
    CHECK(!strcmp(mode_last_error() + parts.advice_at, "apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]"), "%s", mode_last_error() + parts.advice_at);
    c.options.order = -1;
    expect("an option", evaluate(&c, &loss, NULL), MODE_ERROR_OPTION, "order = -1");
    CHECK(!mode_last_error_parts(&parts) && parts.place == -1 && !parts.name_end && parts.advice_at == strlen(mode_last_error()), "%d", (int)parts.place);
    expect("no struct", mode_last_error_parts(NULL), MODE_ERROR_ARGUMENT, "error is NULL");
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
static int in_child(void) {
    call c = good();
    double loss = -7;
    const int want = MODE_ERROR_FORKED, before = failures;
    expect("init", mode_options_init(&c.options, sizeof c.options), want, "fork()|spawn");
    expect("evaluate", evaluate(&c, &loss, NULL), want, "fork()");
    expect("set_threads", mode_set_threads(1), want, "fork()");
    size_t count = 7;
    expect("options", mode_option_count(&count), want, "fork()");
    CHECK(count == 7 && loss == -7, "options in the child, or a loss");
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    return failures - before;
}

static void test_fork(void) {
    call c = good();
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LIMIT); /* not inherited */
        _exit(in_child() != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child's wait status is %d", status);
    CHECK(isfinite(loss_of(&c)), "the parent goes on");
}

int main(void) {
    CHECK(!strcmp(mode_last_error(), ""), "a message before any error: %s", mode_last_error());
    test_versions();
    test_defaults();
    test_table();
    test_variable();
    test_null_options_are_the_defaults();
    test_evaluate();
    test_strengthen();
    test_hess();
    test_distance_correlation();
    test_direction();
    test_overlaps();
    test_edges();
    test_moments();
    test_the_message_stays_until_the_next_error();
    test_the_parts_of_a_message();
    test_number_of_threads();
    test_fork();
    return finish();
}
