/*
 * The C functions beyond the numbers: defaults, errors and their messages, what
 * lies inside the loss, threads, forks and versions.
 */
#define _POSIX_C_SOURCE 200809L /* fork, alarm, pthreads */
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { N = 64, LIMIT = 60 /* seconds, after which a hang is a failure */ };

/* A call that is accepted, which each test spoils in one way. */
typedef struct {
    mode_options options;
    size_t n;
    double score[N], mass[N], weight[N], edges[4];
    int32_t label[N], background[2];
} call;

static call good(void) {
    call c;
    memset(&c, 0, sizeof c);
    mode_options_init(&c.options, sizeof c.options);
    c.options.bins = 4;
    c.n = N;
    for (int i = 0; i < N; i++) {
        c.score[i] = (37 * i % N + 0.5) / N;
        c.mass[i] = i;
        c.weight[i] = 1;
    }
    return c;
}

static double loss_of(const call *c) {
    double loss = NAN;
    int status = mode_loss_f64(&c->options, c->n, c->score, c->mass, c->weight, c->label, &loss);
    CHECK(status == MODE_OK, "%s", mode_last_error());
    return loss;
}

/* The message must hold each of the parts, which "|" separates. */
static void check_message(const char *what, const char *parts) {
    char copy[512];
    const char *message = mode_last_error();
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *part = strtok(copy, "|"); part; part = strtok(NULL, "|"))
        CHECK(strstr(message, part), "%s: no \"%s\" in \"%s\"", what, part, message);
}

/* ---------------------------------------------------------------- defaults */

static void test_defaults(void) {
    mode_options o;
    memset(&o, 0xff, sizeof o);
    CHECK(mode_options_init(&o, sizeof o) == MODE_OK, "%s", mode_last_error());
    CHECK(o.struct_size == sizeof o, "%zu", o.struct_size);
    CHECK(o.order == 0 && o.bins == 32 && o.binning == MODE_BINNING_QUANTILE, "order, bins, binning");
    CHECK(o.moments == MODE_MOMENTS_QUADRATURE && o.slope_of == MODE_SLOPE_OF_REJECTED, "moments, slope_of");
    CHECK(o.reduction == MODE_REDUCTION_MEAN && !o.monotonic && !o.unbiased, "reduction, monotonic, unbiased");
    CHECK(o.max_slope == INFINITY && o.slope_penalty == 0, "max_slope, slope_penalty");
    CHECK(o.mass_range[0] == -INFINITY && o.mass_range[1] == INFINITY, "mass_range");
    CHECK(o.score_range[0] == 0 && o.score_range[1] == 1, "score_range");
    CHECK(!o.edges && !o.n_edges && !o.background_label && !o.n_background_label, "edges, background_label");
    CHECK(mode_options_check(&o) == MODE_OK && mode_options_check(NULL) == MODE_OK, "%s", mode_last_error());
}

static void test_null_options_are_the_defaults(void) {
    call c = good();
    double with = NAN, without = NAN;
    mode_options_init(&c.options, sizeof c.options);
    CHECK(!mode_loss_f64(&c.options, N, c.score, c.mass, NULL, NULL, &with), "%s", mode_last_error());
    CHECK(!mode_loss_f64(NULL, N, c.score, c.mass, NULL, NULL, &without), "%s", mode_last_error());
    CHECK(with == without, "%.17g, %.17g", with, without);
}

static void test_grad_may_be_null_and_weights_of_1_are_none(void) {
    call c = good();
    double loss = NAN, grad[N], without = NAN;
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, &loss, grad), "%s", mode_last_error());
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, NULL, NULL, &without, NULL), "%s", mode_last_error());
    CHECK(fabs(loss - without) <= 1e-14 * loss, "%.17g, %.17g", loss, without); /* other steps, rounded */
}

static void test_events_of_other_labels_are_not_looked_at(void) {
    call c = good();
    double want, loss = NAN, grad[N];
    c.n = N - 4;
    want = loss_of(&c);
    c.n = N;
    for (int i = N - 4; i < N; i++) {
        c.label[i] = 1;
        c.score[i] = c.mass[i] = c.weight[i] = NAN;
    }
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, &loss, grad), "%s", mode_last_error());
    CHECK(loss == want, "%.17g, %.17g", loss, want);
    for (int i = N - 4; i < N; i++) CHECK(grad[i] == 0, "grad[%d] = %g", i, grad[i]);
}

/* ------------------------------------------------------------------ errors */

/* Each spoils a call in one way. */
static void order_17(call *c) { c->options.order = 17; }
static void order_negative(call *c) { c->options.order = -1; }
static void bins_0(call *c) { c->options.bins = 0; }
static void binning_unknown(call *c) { c->options.binning = 3; }
static void moments_unknown(call *c) { c->options.moments = -1; }
static void slope_of_unknown(call *c) { c->options.slope_of = 2; }
static void reduction_unknown(call *c) { c->options.reduction = 2; }
static void monotonic_order_1(call *c) { c->options.order = c->options.monotonic = 1; }
static void max_slope_0(call *c) { c->options.order = 1, c->options.max_slope = 0; }
static void max_slope_nan(call *c) { c->options.order = 1, c->options.max_slope = NAN; }
static void max_slope_order_0(call *c) { c->options.max_slope = 1; }
static void penalty_negative(call *c) { c->options.order = 1, c->options.slope_penalty = -1; }
static void penalty_order_0(call *c) { c->options.slope_penalty = 1; }
static void mass_range_reversed(call *c) { c->options.mass_range[0] = 9, c->options.mass_range[1] = 3; }
static void mass_range_half(call *c) { c->options.mass_range[0] = 3; }
static void score_range_empty(call *c) { c->options.score_range[1] = 0; }
static void give_edges(call *c, double last) {
    c->edges[1] = 10, c->edges[2] = last;
    c->options.binning = MODE_BINNING_EDGES, c->options.edges = c->edges, c->options.n_edges = 3;
}
static void edges_equal(call *c) { give_edges(c, 10); }
static void edges_nan(call *c) { give_edges(c, NAN); }
static void edges_and_range(call *c) { give_edges(c, 63), c->options.mass_range[0] = 0, c->options.mass_range[1] = 63; }
static void edges_and_uniform(call *c) { give_edges(c, 63), c->options.binning = MODE_BINNING_UNIFORM; }
static void edges_missing(call *c) { c->options.binning = MODE_BINNING_EDGES; }
static void edges_null(call *c) { give_edges(c, 63), c->options.edges = NULL; }
static void give_labels(call *c, size_t n) { c->options.background_label = c->background, c->options.n_background_label = n; }
static void labels_none(call *c) { give_labels(c, 0); }
static void labels_twice(call *c) { give_labels(c, 2); }
static void labels_null(call *c) { c->options.n_background_label = 2; }
static void score_nan(call *c) { c->score[5] = NAN; }
static void mass_infinite(call *c) { c->mass[6] = -INFINITY; }
static void weight_infinite(call *c) { c->weight[7] = INFINITY; }
static void score_outside(call *c) { c->score[8] = 1.25; }
static void no_events(call *c) { c->n = 0; }
static void no_background(call *c) { c->background[0] = 9, give_labels(c, 1); }
static void none_in_range(call *c) { c->options.mass_range[0] = 100, c->options.mass_range[1] = 200; }
static void too_many_bins(call *c) { c->options.bins = N + 1; }
static void masses_equal(call *c) { for (int i = 0; i < N; i++) c->mass[i] = 91; }
static void bin_empty(call *c) { give_edges(c, 63), c->edges[1] = 0.5, c->edges[2] = 0.75, c->edges[3] = 63, c->options.n_edges = 4; }
static void bin_negative(call *c) { for (int i = 16; i < 32; i++) c->weight[i] = -1; }
static void bin_single(call *c) { give_edges(c, 63), c->edges[1] = 1, c->options.unbiased = 1; }
static void scores_huge(call *c) {
    c->options.score_range[0] = -INFINITY, c->options.score_range[1] = INFINITY;
    for (int i = 0; i < N; i++) c->score[i] = i % 2 ? 1.7e308 : -1.7e308;
}
static void masses_wide(call *c) { c->mass[0] = -1.7e308, c->mass[1] = 1.7e308; }
static void size_unknown(call *c) { c->options.struct_size = 8; }
static void size_newer(call *c) { c->options.struct_size += 8; }
static void n_huge(call *c) { c->n = (size_t)1 << 32; }

static const struct {
    const char *what;
    void (*spoil)(call *);
    int status;
    const char *parts;
} spoilt[] = {
    {"order 17", order_17, MODE_ERROR_OPTION, "order = 17|16"},
    {"order -1", order_negative, MODE_ERROR_OPTION, "order = -1"},
    {"bins 0", bins_0, MODE_ERROR_OPTION, "bins = 0|at least 1"},
    {"binning", binning_unknown, MODE_ERROR_OPTION, "binning = 3"},
    {"moments", moments_unknown, MODE_ERROR_OPTION, "moments = -1"},
    {"slope_of", slope_of_unknown, MODE_ERROR_OPTION, "slope_of = 2"},
    {"reduction", reduction_unknown, MODE_ERROR_OPTION, "reduction = 2"},
    {"monotonic", monotonic_order_1, MODE_ERROR_OPTION, "monotonic|order >= 2|order is 1"},
    {"max_slope 0", max_slope_0, MODE_ERROR_OPTION, "max_slope = 0|greater than 0"},
    {"max_slope NaN", max_slope_nan, MODE_ERROR_OPTION, "max_slope = NaN"},
    {"max_slope at order 0", max_slope_order_0, MODE_ERROR_OPTION, "max_slope = 1|order >= 1"},
    {"slope_penalty -1", penalty_negative, MODE_ERROR_OPTION, "slope_penalty = -1"},
    {"slope_penalty at order 0", penalty_order_0, MODE_ERROR_OPTION, "slope_penalty = 1|order >= 1"},
    {"mass_range reversed", mass_range_reversed, MODE_ERROR_OPTION, "mass_range = [9, 3]|lower end"},
    {"mass_range half given", mass_range_half, MODE_ERROR_OPTION, "mass_range = [3, +Inf]|finite"},
    {"score_range empty", score_range_empty, MODE_ERROR_OPTION, "score_range = [0, 0]|lower end"},
    {"edges equal", edges_equal, MODE_ERROR_OPTION, "edges[2] = 10|edges[1] = 10"},
    {"edges NaN", edges_nan, MODE_ERROR_OPTION, "edges[2] = NaN"},
    {"edges and mass_range", edges_and_range, MODE_ERROR_OPTION, "mass_range = [0, 63]|edges"},
    {"edges and uniform", edges_and_uniform, MODE_ERROR_OPTION, "edges|binning"},
    {"edges missing", edges_missing, MODE_ERROR_OPTION, "edges|at least 2"},
    {"edges NULL", edges_null, MODE_ERROR_ARGUMENT, "edges is NULL|3 elements"},
    {"no label", labels_none, MODE_ERROR_OPTION, "background_label|at least one"},
    {"labels twice", labels_twice, MODE_ERROR_OPTION, "background_label|0 twice"},
    {"labels NULL", labels_null, MODE_ERROR_ARGUMENT, "background_label is NULL|2 elements"},
    {"score NaN", score_nan, MODE_ERROR_NOT_FINITE, "score[5] = NaN"},
    {"mass infinite", mass_infinite, MODE_ERROR_NOT_FINITE, "mass[6] = -Inf"},
    {"weight infinite", weight_infinite, MODE_ERROR_NOT_FINITE, "weight[7] = +Inf"},
    {"score outside", score_outside, MODE_ERROR_SCORE_RANGE, "score[8] = 1.25|[0, 1]|sigmoid"},
    {"no events", no_events, MODE_ERROR_TOO_FEW, "no event selected|empty"},
    {"no background", no_background, MODE_ERROR_TOO_FEW, "no event selected|background_label = 9"},
    {"none in the mass range", none_in_range, MODE_ERROR_TOO_FEW, "no event selected|[100, 200]"},
    {"too many bins", too_many_bins, MODE_ERROR_TOO_FEW, "64 selected events|bins = 65|fewer bins"},
    {"masses equal", masses_equal, MODE_ERROR_BIN, "mass|91"},
    {"empty bin", bin_empty, MODE_ERROR_BIN, "bin 1 of 3|[0.5, 0.75)|sum of weights 0"},
    {"negative bin", bin_negative, MODE_ERROR_BIN, "bin 1 of 4|[15.5, 31.5)|-16|positive"},
    {"unbiased, one event in a bin", bin_single, MODE_ERROR_BIN, "bin 0 of 2|[0, 1)|unbiased"},
    {"scores too large", scores_huge, MODE_ERROR_OVERFLOW, "score"},
    {"masses too far apart", masses_wide, MODE_ERROR_OVERFLOW, "mass|too wide"},
    {"struct_size 8", size_unknown, MODE_ERROR_ARGUMENT, "options.struct_size = 8|mode_options_init"},
    {"struct_size of a later version", size_newer, MODE_ERROR_ARGUMENT, "options.struct_size|" MODE_VERSION},
    {"2^32 events", n_huge, MODE_ERROR_ARGUMENT, "4294967296|4294967295"},
};

static void test_spoilt_calls(void) {
    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        const char *what = spoilt[k].what;
        call c = good();
        double loss = -7, grad[N];
        int status;
        spoilt[k].spoil(&c);
        status = mode_loss_grad_f64(&c.options, c.n, c.score, c.mass, c.weight, c.label, &loss, grad);
        CHECK(status == spoilt[k].status, "%s: status %d, want %d (%s)", what, status, spoilt[k].status, mode_last_error());
        CHECK(loss == -7, "%s: the loss was written", what);
        check_message(what, spoilt[k].parts);
        CHECK(mode_options_check(&c.options) == (status == MODE_ERROR_OPTION || strstr(spoilt[k].parts, "is NULL") ||
                                                         strstr(spoilt[k].parts, "struct_size")
                                                     ? status
                                                     : MODE_OK),
              "%s: mode_options_check differs", what);
    }
}

static void expect(const char *what, int status, int want, const char *parts) {
    CHECK(status == want, "%s: status %d, want %d", what, status, want);
    check_message(what, parts);
}

static void test_null_pointers(void) {
    call c = good();
    double d;
    float f[N] = {0};
    size_t count;
    const mode_options *o = &c.options;
    const int bad = MODE_ERROR_ARGUMENT;
    expect("init", mode_options_init(NULL, sizeof *o), bad, "options is NULL");
    expect("init, size", mode_options_init(&c.options, 1), bad, "struct_size = 1");
    expect("score", mode_loss_f64(o, N, NULL, c.mass, NULL, NULL, &d), bad, "score is NULL|64 elements");
    expect("mass", mode_loss_f64(o, N, c.score, NULL, NULL, NULL, &d), bad, "mass is NULL|64 elements");
    expect("loss", mode_loss_f64(o, N, c.score, c.mass, NULL, NULL, NULL), bad, "loss is NULL");
    expect("score f32", mode_loss_f32(o, N, NULL, f, NULL, NULL, &d), bad, "score is NULL");
    expect("loss f32", mode_loss_grad_f32(o, N, f, f, NULL, NULL, NULL, f), bad, "loss is NULL");
    expect("edges of no mass", mode_edges(o, N, NULL, NULL, 0, NULL, &count), bad, "mass is NULL");
    expect("n_edges", mode_edges(o, N, c.mass, NULL, 0, NULL, NULL), bad, "n_edges is NULL");
    expect("at", mode_moments(o, N, c.score, c.mass, NULL, NULL, 3, NULL, 4, NULL, NULL, NULL), bad, "at is NULL|3 elements");
    expect("threads", mode_get_threads(NULL), bad, "threads is NULL");
    expect("threads < 0", mode_set_threads(-1), bad, "threads = -1");
    expect("NULL arrays of length 0", mode_loss_f64(o, 0, NULL, NULL, NULL, NULL, &d), MODE_ERROR_TOO_FEW, "no event selected");
}

static void test_the_message_stays_until_the_next_error(void) {
    call c = good();
    expect("first", mode_set_threads(-1), MODE_ERROR_ARGUMENT, "threads");
    loss_of(&c);
    check_message("after a good call", "threads");
}

/* -------------------------------------------------------------- look inside */

static void test_edges(void) {
    call c = good();
    double edges[5];
    size_t n = 0;
    CHECK(!mode_edges(&c.options, N, c.mass, NULL, 0, NULL, &n) && n == 5, "asking for the number: %zu", n);
    CHECK(!mode_edges(&c.options, N, c.mass, c.label, 5, edges, &n) && n == 5, "%s", mode_last_error());
    CHECK(edges[0] == 0 && edges[1] == 15.5 && edges[2] == 31.5 && edges[3] == 47.5 && edges[4] == 63, "quantiles");
    expect("capacity", mode_edges(&c.options, N, c.mass, NULL, 4, edges, &n), MODE_ERROR_ARGUMENT, "capacity = 4|5 edges");
    give_labels(&c, 2);
    c.background[1] = 1;
    expect("two labels", mode_edges(&c.options, N, c.mass, c.label, 5, edges, &n), MODE_ERROR_OPTION, "background_label|one at a time");
}

static void test_moments(void) {
    call c = good();
    const double at[3] = {1, -0.5, 0.5};
    double cdf[12], moments[6], bounded[6];
    int status;
    c.options.order = 1;
    c.options.max_slope = 0.01;
    status = mode_moments(&c.options, N, c.score, c.mass, NULL, NULL, 3, at, 4, cdf, moments, bounded);
    CHECK(!status, "%s", mode_last_error());
    for (int b = 0; b < 4; b++) {
        int below = 0;
        for (int i = 16 * b; i < 16 * b + 16; i++) below += c.score[i] <= at[2];
        CHECK(cdf[b] == 1 && cdf[4 + b] == 0 && cdf[8 + b] == below / 16.0, "bin %d: %g %g %g", b, cdf[b], cdf[4 + b], cdf[8 + b]);
    }
    CHECK(fabs(moments[0] - 1) < 1e-14 && fabs(moments[1]) < 1e-14, "everything below: %g %g", moments[0], moments[1]);
    CHECK(moments[2] == 0 && moments[3] == 0, "nothing below: %g %g", moments[2], moments[3]);
    CHECK(bounded[4] == moments[4], "c_0 is not bounded: %g %g", bounded[4], moments[4]);
    CHECK(fabs(bounded[5] - 0.01 * moments[4] * tanh(moments[5] / (0.01 * moments[4]))) < 1e-16, "c_1 is: %g", bounded[5]);
    CHECK(!mode_moments(&c.options, N, c.score, c.mass, NULL, NULL, 3, at, 4, NULL, NULL, NULL), "%s", mode_last_error());
    status = mode_moments(&c.options, N, c.score, c.mass, NULL, NULL, 3, at, 5, cdf, NULL, NULL);
    expect("n_bins", status, MODE_ERROR_ARGUMENT, "n_bins = 5|4 bins");
}

/* ------------------------------------------------------------------ threads */

typedef struct {
    int index;
    double want, got;
    int wrong_messages;
} job;

/* Calls well and badly in turn: each thread must see its own results and messages. */
static void *work(void *argument) {
    job *j = argument;
    char part[32];
    snprintf(part, sizeof part, "order = %d", 100 + j->index);
    for (int round = 0; round < 200; round++) {
        call c = good(), bad = good();
        c.options.order = j->index;
        bad.options.order = 100 + j->index;
        if (mode_options_check(&bad.options) != MODE_ERROR_OPTION) j->wrong_messages++;
        if (mode_loss_f64(&c.options, N, c.score, c.mass, c.weight, c.label, &j->got)) j->got = NAN;
        if (!strstr(mode_last_error(), part)) j->wrong_messages++;
    }
    return NULL;
}

static void test_threads(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int k = 0; k < THREADS; k++) {
        call c = good();
        c.options.order = k;
        jobs[k] = (job){k, loss_of(&c), NAN, 0};
    }
    for (int k = 0; k < THREADS; k++)
        if (pthread_create(&threads[k], NULL, work, &jobs[k])) abort();
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        CHECK(jobs[k].got == jobs[k].want, "thread %d: %.17g, want %.17g", k, jobs[k].got, jobs[k].want);
        CHECK(!jobs[k].wrong_messages, "thread %d: %d messages of others", k, jobs[k].wrong_messages);
    }
}

static void test_number_of_threads(void) {
    int before, now;
    CHECK(!mode_get_threads(&before) && before >= 1, "%d", before);
    CHECK(!mode_set_threads(3) && !mode_get_threads(&now) && now == 3, "%d", now);
    CHECK(!mode_set_threads(0) && !mode_get_threads(&now) && now == before, "%d, want %d", now, before);
}

/* -------------------------------------------------------------------- fork */

static int in_child(void) {
    call c = good();
    double d = -7, grad[N];
    float f[N] = {0}, single[N];
    size_t count;
    int threads;
    mode_options o;
    const int want = MODE_ERROR_FORKED, before = failures;
    expect("init", mode_options_init(&o, sizeof o), want, "fork()|spawn");
    expect("check", mode_options_check(NULL), want, "fork()");
    expect("f32", mode_loss_f32(NULL, N, f, f, NULL, NULL, &d), want, "fork()");
    expect("f64", mode_loss_f64(NULL, N, c.score, c.mass, NULL, NULL, &d), want, "fork()");
    expect("grad f32", mode_loss_grad_f32(NULL, N, f, f, NULL, NULL, &d, single), want, "fork()");
    expect("grad f64", mode_loss_grad_f64(NULL, N, c.score, c.mass, NULL, NULL, &d, grad), want, "fork()");
    expect("edges", mode_edges(NULL, N, c.mass, NULL, 0, NULL, &count), want, "fork()");
    expect("moments", mode_moments(NULL, N, c.score, c.mass, NULL, NULL, 0, NULL, 4, NULL, NULL, NULL), want, "fork()");
    expect("set_threads", mode_set_threads(1), want, "fork()");
    expect("get_threads", mode_get_threads(&threads), want, "fork()");
    CHECK(d == -7, "the loss was written");
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    return failures - before;
}

static void test_fork(void) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LIMIT); /* not inherited */
        _exit(in_child() != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child's wait status is %d", status);
    test_null_options_are_the_defaults(); /* the parent goes on */
}

static void test_versions(void) {
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    CHECK(mode_abi_version() == MODE_ABI_VERSION, "%d", mode_abi_version());
}

int main(void) {
    alarm(2 * LIMIT);
    CHECK(!strcmp(mode_last_error(), ""), "a message before any error: %s", mode_last_error());
    test_versions();
    test_defaults();
    test_null_options_are_the_defaults();
    test_grad_may_be_null_and_weights_of_1_are_none();
    test_events_of_other_labels_are_not_looked_at();
    test_spoilt_calls();
    test_null_pointers();
    test_the_message_stays_until_the_next_error();
    test_edges();
    test_moments();
    test_threads();
    test_number_of_threads();
    test_fork();
    return finish();
}
