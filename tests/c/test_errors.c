/*
 * Bad input: every call returns the right status, leaves its results as they
 * were, and names the argument, the value and the place. The sentences are those of the
 * table of test_error_table.c; here is what a table of statements cannot have.
 */
#define _POSIX_C_SOURCE 200809L /* alarm */
#include <unistd.h>

#include "call.h"

static int seen[MODE_ERROR_INTERNAL + 1]; /* how often a call returned each status */

static void expect_seen(const char *what, int status, int want, const char *parts) {
    seen[status]++;
    expect(what, status, want, parts);
}

/* ------------------------------------------------- options and values, one by one */

/* Each spoils a call in one way. */
static void bins_negative(call *c) { c->options.bins = INT32_MIN; }
static void bins_most(call *c) { c->options.bins = INT32_MAX; }
static void binning_unknown(call *c) { c->options.binning = 5; }
static void moments_unknown(call *c) { c->options.moments = -1; }
static void slope_of_unknown(call *c) { c->options.slope_of = 2; }
static void reduction_unknown(call *c) { c->options.reduction = 2; }
static void penalty_nan(call *c) { c->options.order = 1, c->options.slope_penalty = NAN; }
static void mass_range_nan(call *c) { c->options.mass_range[0] = NAN; }
static void score_range_nan(call *c) { c->options.score_range[1] = NAN; }
static void edges_and_uniform(call *c) { give_edges(c, 63), c->options.binning = MODE_BINNING_UNIFORM; }
static void edges_null(call *c) { give_edges(c, 63), c->options.edges = NULL; }
static void edges_negative(call *c) { give_edges(c, 63), c->options.n_edges = SIZE_MAX; }
static void labels_null(call *c) { c->options.n_background_label = 2; }
static void labels_negative(call *c) { give_labels(c, SIZE_MAX); }
static void score_outside(call *c) { c->score[8] = 1.25; }
static void masses_equal(call *c) { for (int i = 0; i < N; i++) c->mass[i] = 91; }
static void bin_empty(call *c) { give_edges(c, 63), c->edges[1] = 0.5, c->edges[2] = 0.75, c->edges[3] = 63, c->options.n_edges = 4; }
static void scores_huge(call *c) {
    c->options.score_range[0] = -INFINITY, c->options.score_range[1] = INFINITY;
    for (int i = 0; i < N; i++) c->score[i] = i % 2 ? 1.7e308 : -1.7e308;
}
static void masses_wide(call *c) { c->mass[0] = -1.7e308, c->mass[1] = 1.7e308; }
static void size_0(call *c) { c->options.struct_size = 0; }
static void size_8(call *c) { c->options.struct_size = 8; }
static void size_shorter(call *c) { c->options.struct_size -= 1; }
static void size_newer(call *c) { c->options.struct_size += 8; }
static void size_negative(call *c) { c->options.struct_size = SIZE_MAX; }

static const struct {
    const char *what;
    void (*spoil)(call *);
    int status;
    const char *parts;
} spoilt[] = {
    {"bins -2^31", bins_negative, MODE_ERROR_OPTION, "bins = -2147483648|at least 1"},
    {"binning", binning_unknown, MODE_ERROR_OPTION, "binning = 5"},
    {"moments", moments_unknown, MODE_ERROR_OPTION, "moments = -1"},
    {"slope_of", slope_of_unknown, MODE_ERROR_OPTION, "slope_of = 2"},
    {"reduction", reduction_unknown, MODE_ERROR_OPTION, "reduction = 2"},
    {"slope_penalty NaN", penalty_nan, MODE_ERROR_OPTION, "slope_penalty = NaN|finite"},
    {"mass_range NaN", mass_range_nan, MODE_ERROR_OPTION, "mass_range = [NaN, +Inf]|finite"},
    {"score_range NaN", score_range_nan, MODE_ERROR_OPTION, "score_range = [0, NaN]|finite"},
    {"edges and uniform", edges_and_uniform, MODE_ERROR_OPTION, "edges|binning"},
    {"edges NULL", edges_null, MODE_ERROR_ARGUMENT, "edges is NULL|3 elements"},
    {"-1 edges", edges_negative, MODE_ERROR_ARGUMENT, "edges: 18446744073709551615|4294967295"},
    {"-1 labels", labels_negative, MODE_ERROR_ARGUMENT, "background_label: 18446744073709551615|4294967295"},
    {"labels NULL", labels_null, MODE_ERROR_ARGUMENT, "background_label is NULL|2 elements"},
    {"score outside", score_outside, MODE_ERROR_SCORE_RANGE, "score[8] = 1.25|[0, 1]|sigmoid"},
    {"2^31 - 1 bins", bins_most, MODE_ERROR_TOO_FEW, "64 selected events|bins = 2147483647|fewer bins"},
    {"masses equal", masses_equal, MODE_ERROR_BIN, "mass|91"},
    {"empty bin", bin_empty, MODE_ERROR_BIN, "bin 1 of 3|[0.5, 0.75)|sum of weights 0"},
    {"scores too large", scores_huge, MODE_ERROR_OVERFLOW, "score"},
    {"masses too far apart", masses_wide, MODE_ERROR_OVERFLOW, "mass|too wide"},
    {"struct_size 0", size_0, MODE_ERROR_ARGUMENT, "options.struct_size = 0|mode_options_init"},
    {"struct_size 8", size_8, MODE_ERROR_ARGUMENT, "options.struct_size = 8|mode_options_init"},
    {"struct_size too small by 1", size_shorter, MODE_ERROR_ARGUMENT, "options.struct_size"},
    {"struct_size of a later version", size_newer, MODE_ERROR_ARGUMENT, "options.struct_size|" MODE_VERSION},
    {"struct_size -1", size_negative, MODE_ERROR_ARGUMENT, "options.struct_size"},
};

static void test_spoilt_calls(void) {
    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        const char *what = spoilt[k].what, *parts = spoilt[k].parts;
        const int want = spoilt[k].status;
        call c = good();
        const mode_options *o = &c.options;
        double loss = -7, grad[N];
        float f[N] = {0};
        size_t n_edges = 7;
        spoilt[k].spoil(&c);
        expect_seen(what, mode_loss_grad_f64(o, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &loss, grad), want, parts);
        expect(what, mode_loss_f64(o, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &loss), want, parts);
        if (want != MODE_ERROR_OPTION && want != MODE_ERROR_ARGUMENT) {
            CHECK(mode_options_check(o) == MODE_OK, "%s: %s", what, mode_last_error());
        } else { /* bad options are the same error everywhere */
            expect(what, mode_options_check(o), want, parts);
            expect(what, mode_loss_f32(o, N, f, f, NULL, NULL, 0, &loss), want, parts);
            expect(what, mode_loss_grad_f32(o, N, f, f, NULL, NULL, 0, &loss, f), want, parts);
            expect(what, mode_edges_f64(o, N, c.mass, NULL, NULL, 0, N, grad, &n_edges), want, parts);
            expect(what, mode_moments_f64(o, N, c.score, c.mass, NULL, NULL, 0, 0, NULL, 4, NULL, NULL, NULL), want, parts);
        }
        CHECK(loss == -7 && n_edges == 7, "%s: a result was written", what);
    }
}

/* ------------------------------------------------------------ NaN and infinities */

static void test_values_that_are_not_finite(void) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static const char *const shown[] = {"NaN", "+Inf", "-Inf"}, *const names[] = {"score", "mass", "weight"};
    static const int places[] = {0, 5, N - 1};
    const int want = MODE_ERROR_NOT_FINITE;
    for (int k = 0; k < 27; k++) {
        const int array = k / 9, value = k / 3 % 3, i = places[k % 3];
        call c = good();
        const mode_options *o = &c.options;
        const double at = 0.5;
        double *const arrays[] = {c.score, c.mass, c.weight};
        double loss = -7, grad[N], cdf[4];
        float f[3][N], grad_f[N];
        size_t n_edges = 7;
        char message[64];
        snprintf(message, sizeof message, "%s[%d] = %s", names[array], i, shown[value]);
        arrays[array][i] = bad[value];
        for (int j = 0; j < 3 * N; j++) f[j / N][j % N] = (float)arrays[j / N][j % N];

        expect_seen("f64", mode_loss_f64(o, N, c.score, c.mass, c.weight, NULL, 0, &loss), want, message);
        expect("grad f64", mode_loss_grad_f64(o, N, c.score, c.mass, c.weight, NULL, 0, &loss, grad), want, message);
        expect("f32", mode_loss_f32(o, N, f[0], f[1], f[2], NULL, 0, &loss), want, message);
        expect("grad f32", mode_loss_grad_f32(o, N, f[0], f[1], f[2], NULL, 0, &loss, grad_f), want, message);
        expect("moments", mode_moments_f64(o, N, c.score, c.mass, c.weight, NULL, 0, 1, &at, 4, cdf, NULL, NULL), want, message);
        if (arrays[array] == c.mass)
            expect("edges", mode_edges_f64(o, N, c.mass, NULL, NULL, 0, N, grad, &n_edges), want, message);
        CHECK(loss == -7 && n_edges == 7, "%s: a result was written", message);
    }
}

static void test_at(void) {
    call c = good();
    const double at[3] = {-INFINITY, INFINITY, NAN};
    double cdf[8];
    CHECK(!mode_moments_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, 2, at, 4, cdf, NULL, NULL), "%s", mode_last_error());
    CHECK(cdf[0] == 0 && cdf[4] == 1, "below the infinities: %g, %g", cdf[0], cdf[4]);
    expect("at", mode_moments_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, 3, at, 4, cdf, NULL, NULL),
           MODE_ERROR_NOT_FINITE, "at[2] = NaN");
}

/* --------------------------------------------------------- pointers and numbers */

static void test_null(void) {
    call c = good();
    const mode_options *o = &c.options;
    const double *s = c.score, *m = c.mass;
    const float f[N] = {0};
    const int bad = MODE_ERROR_ARGUMENT;
    double d = -7, grad[N];
    float grad_f[N];
    size_t count = 7;

    expect_seen("init", mode_options_init(NULL, sizeof *o), bad, "options is NULL");
    expect("f32 score", mode_loss_f32(o, N, NULL, f, NULL, NULL, 0, &d), bad, "score is NULL|64 elements");
    expect("f32 mass", mode_loss_f32(o, N, f, NULL, NULL, NULL, 0, &d), bad, "mass is NULL|64 elements");
    expect("f32 loss", mode_loss_f32(o, N, f, f, NULL, NULL, 0, NULL), bad, "loss is NULL");
    expect("f64 score", mode_loss_f64(o, N, NULL, m, NULL, NULL, 0, &d), bad, "score is NULL|64 elements");
    expect("f64 mass", mode_loss_f64(o, N, s, NULL, NULL, NULL, 0, &d), bad, "mass is NULL|64 elements");
    expect("f64 loss", mode_loss_f64(o, N, s, m, NULL, NULL, 0, NULL), bad, "loss is NULL");
    expect("grad f32 score", mode_loss_grad_f32(o, N, NULL, f, NULL, NULL, 0, &d, grad_f), bad, "score is NULL|64 elements");
    expect("grad f32 mass", mode_loss_grad_f32(o, N, f, NULL, NULL, NULL, 0, &d, grad_f), bad, "mass is NULL|64 elements");
    expect("grad f32 loss", mode_loss_grad_f32(o, N, f, f, NULL, NULL, 0, NULL, grad_f), bad, "loss is NULL");
    expect("grad f64 score", mode_loss_grad_f64(o, N, NULL, m, NULL, NULL, 0, &d, grad), bad, "score is NULL|64 elements");
    expect("grad f64 mass", mode_loss_grad_f64(o, N, s, NULL, NULL, NULL, 0, &d, grad), bad, "mass is NULL|64 elements");
    expect("grad f64 loss", mode_loss_grad_f64(o, N, s, m, NULL, NULL, 0, NULL, grad), bad, "loss is NULL");
    expect("edges mass", mode_edges_f64(o, N, NULL, NULL, NULL, 0, N, grad, &count), bad, "mass is NULL|64 elements");
    expect("edges n_edges", mode_edges_f64(o, N, m, NULL, NULL, 0, N, grad, NULL), bad, "n_edges is NULL");
    expect("moments score", mode_moments_f64(o, N, NULL, m, NULL, NULL, 0, 1, s, 4, grad, grad, grad), bad, "score is NULL|64 elements");
    expect("moments mass", mode_moments_f64(o, N, s, NULL, NULL, NULL, 0, 1, s, 4, grad, grad, grad), bad, "mass is NULL|64 elements");
    expect("moments at", mode_moments_f64(o, N, s, m, NULL, NULL, 0, 3, NULL, 4, grad, grad, grad), bad, "at is NULL|3 elements");
    expect("threads", mode_get_threads(NULL), bad, "threads is NULL");
    CHECK(d == -7 && count == 7, "a result was written");

    /* What may be NULL, all at once. */
    CHECK(!mode_options_check(NULL), "%s", mode_last_error());
    CHECK(!mode_loss_grad_f64(NULL, N, s, m, NULL, NULL, 0, &d, NULL), "%s", mode_last_error());
    CHECK(!mode_edges_f64(NULL, N, m, NULL, NULL, 0, 0, NULL, &count) && count == 9, "%s", mode_last_error());
    CHECK(!mode_moments_f64(NULL, N, s, m, NULL, NULL, 0, 0, NULL, 8, NULL, NULL, NULL), "%s", mode_last_error());
}

static void test_numbers_of_events(void) {
    static const size_t many[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 32};
    static const char *const shown[] = {"18446744073709551615|4294967295", "9223372036854775807|4294967295", "4294967296|4294967295"};
    call c = good();
    const mode_options *o = &c.options;
    const double *s = c.score, *m = c.mass;
    const float f[N] = {0};
    double d = -7, grad[N];
    float grad_f[N];
    size_t count = 7;
    for (int k = 0; k < 4; k++) {
        const size_t n = k < 3 ? many[k] : 0;
        const int want = k < 3 ? MODE_ERROR_ARGUMENT : MODE_ERROR_TOO_FEW;
        const char *parts = k < 3 ? shown[k] : "no event selected|empty";
        expect_seen("f32", mode_loss_f32(o, n, f, f, f, c.label, MODE_LABEL_INT32, &d), want, parts);
        expect("f64", mode_loss_f64(o, n, s, m, s, c.label, MODE_LABEL_INT32, &d), want, parts);
        expect("grad f32", mode_loss_grad_f32(o, n, f, f, f, c.label, MODE_LABEL_INT32, &d, grad_f), want, parts);
        expect("grad f64", mode_loss_grad_f64(o, n, s, m, s, c.label, MODE_LABEL_INT32, &d, grad), want, parts);
        expect("edges", mode_edges_f64(o, n, m, NULL, c.label, MODE_LABEL_INT32, N, grad, &count), want, parts);
        expect("moments", mode_moments_f64(o, n, s, m, s, c.label, MODE_LABEL_INT32, 1, s, 4, grad, NULL, NULL), want, parts);
        if (k < 3) expect("n_at", mode_moments_f64(o, N, s, m, s, c.label, MODE_LABEL_INT32, n, s, 4, grad, NULL, NULL), want, parts);
        CHECK(d == -7 && count == 7, "a result was written");
    }
    expect("no events at all", mode_loss_f64(o, 0, NULL, NULL, NULL, NULL, 0, &d), MODE_ERROR_TOO_FEW, "no event selected");
}

static void test_other_numbers(void) {
    call c = good();
    mode_options *o = &c.options;
    const int bad = MODE_ERROR_ARGUMENT;
    double out[N];
    size_t count = 7;
    expect("size 0", mode_options_init(o, 0), bad, "options.struct_size = 0");
    expect("size 1", mode_options_init(o, 1), bad, "options.struct_size = 1");
    expect("size -1", mode_options_init(o, SIZE_MAX), bad, "options.struct_size = 18446744073709551615");
    CHECK(o->bins == 4, "options were written");
    for (size_t capacity = 0; capacity < 5; capacity++) {
        char part[32];
        snprintf(part, sizeof part, "capacity = %zu|5 edges", capacity);
        expect("capacity", mode_edges_f64(o, N, c.mass, NULL, NULL, 0, capacity, out, &count), bad, part);
        CHECK(count == 5, "the number needed is set all the same: %zu", count);
    }
    expect("n_bins 0", mode_moments_f64(o, N, c.score, c.mass, NULL, NULL, 0, 1, c.score, 0, out, NULL, NULL), bad, "n_bins = 0|4 bins");
    expect("n_bins 5", mode_moments_f64(o, N, c.score, c.mass, NULL, NULL, 0, 1, c.score, 5, out, NULL, NULL), bad, "n_bins = 5|4 bins");
    expect("n_bins -1", mode_moments_f64(o, N, c.score, c.mass, NULL, NULL, 0, 1, c.score, SIZE_MAX, out, NULL, NULL), bad,
           "n_bins = 18446744073709551615|4 bins");
    expect("label_type 6", mode_loss_f64(o, N, c.score, c.mass, NULL, c.label, 6, out), bad, "label_type = 6");
    expect("label_type -1", mode_edges_f64(o, N, c.mass, NULL, c.label, -1, N, out, &count), bad, "label_type = -1");
    CHECK(!mode_loss_f64(o, N, c.score, c.mass, NULL, NULL, 6, out), "without labels their type means nothing: %s", mode_last_error());
    expect("threads -1", mode_set_threads(-1), bad, "threads = -1");
    expect("threads -2^31", mode_set_threads(INT32_MIN), bad, "threads = -2147483648");

    give_labels(&c, 2);
    c.background[1] = 1;
    expect("edges of two labels", mode_edges_f64(o, N, c.mass, NULL, c.label, MODE_LABEL_INT32, N, out, &count), MODE_ERROR_OPTION, "background_label|one at a time");
    expect("moments of two labels", mode_moments_f64(o, N, c.score, c.mass, NULL, c.label, MODE_LABEL_INT32, 1, c.score, 4, out, NULL, NULL),
           MODE_ERROR_OPTION, "background_label|one at a time");
}

/* ------------------------------------------------------- structs of this call */

/* Each spoils the events, or the variables of the options, in one way. */
static void events_size_0(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->struct_size = 0; }
static void events_newer(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->struct_size += 8; }
static void no_mass(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->n_mass = 0; }
static void mass_of_4(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->n_mass = 4; }
static void mass_of_many(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->n_mass = SIZE_MAX; }
static void mass_null(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->mass = NULL; }
static void score_null(call *c, mode_events *e, mode_variable *v) { (void)c, (void)v, e->score = NULL; }
static void second_mass_null(call *c, mode_events *e, mode_variable *v) {
    static const double mass[N] = {0};
    static const void *const masses[2] = {mass, NULL};
    (void)c, (void)v, e->mass = masses, e->n_mass = 2;
}
static void category_of_float(call *c, mode_events *e, mode_variable *v) {
    (void)v, e->category = c->label, e->category_type = MODE_LABEL_FLOAT32;
}
static void category_type_7(call *c, mode_events *e, mode_variable *v) { (void)v, e->category = c->label, e->category_type = 7; }
static void variable_size_0(call *c, mode_events *e, mode_variable *v) { (void)c, (void)e, v[1].struct_size = 0; }
static void variables_null(call *c, mode_events *e, mode_variable *v) { (void)e, (void)v, c->options.variables = NULL; }
static void variables_4(call *c, mode_events *e, mode_variable *v) { (void)e, (void)v, c->options.n_variables = 4; }
/* None of a number that is refused is looked at: so many are not there. */
static void variables_of_a_wrong_number(call *c, mode_events *e, mode_variable *v) {
    (void)e, c->options.n_variables = SIZE_MAX, v[0].struct_size = 0;
}
static void variable_bins(call *c, mode_events *e, mode_variable *v) { (void)c, (void)e, v[1].bins = -2; }
static void variable_range(call *c, mode_events *e, mode_variable *v) { (void)c, (void)e, v[1].mass_range[0] = 3; }
static void variable_edges_null(call *c, mode_events *e, mode_variable *v) { (void)c, (void)e, v[0].n_edges = 3; }
static void variable_edges(call *c, mode_events *e, mode_variable *v) {
    (void)e, give_edges(c, 10), v[1].edges = c->edges, v[1].n_edges = 3, c->options.edges = NULL, c->options.n_edges = 0;
}
static void edges_of_all(call *c, mode_events *e, mode_variable *v) { (void)e, (void)v, give_edges(c, 63); }

static const struct {
    const char *what;
    void (*spoil)(call *, mode_events *, mode_variable *);
    int status;
    const char *parts;
} spoilt_structs[] = {
    {"events.struct_size 0", events_size_0, MODE_ERROR_ARGUMENT, "events.struct_size = 0|mode_events_init"},
    {"events of a later version", events_newer, MODE_ERROR_ARGUMENT, "events.struct_size|" MODE_VERSION},
    {"no mass", no_mass, MODE_ERROR_ARGUMENT, "n_mass = 0|1 to 3 variables"},
    {"4 masses", mass_of_4, MODE_ERROR_ARGUMENT, "n_mass = 4|1 to 3 variables"},
    {"-1 masses", mass_of_many, MODE_ERROR_ARGUMENT, "n_mass = 18446744073709551615|1 to 3 variables"},
    {"mass NULL", mass_null, MODE_ERROR_ARGUMENT, "mass is NULL|n_mass = 1"},
    {"score NULL", score_null, MODE_ERROR_ARGUMENT, "score is NULL|64 elements"},
    {"second mass NULL", second_mass_null, MODE_ERROR_ARGUMENT, "mass[1] is NULL|64 elements"},
    {"categories of float", category_of_float, MODE_ERROR_ARGUMENT, "category_type = 4|integers"},
    {"category_type 7", category_type_7, MODE_ERROR_ARGUMENT, "category_type = 7|MODE_LABEL_"},
    {"variable.struct_size 0", variable_size_0, MODE_ERROR_ARGUMENT, "variable.struct_size = 0|mode_variable_init"},
    {"variables NULL", variables_null, MODE_ERROR_ARGUMENT, "variables is NULL|2 elements"},
    {"4 variables", variables_4, MODE_ERROR_ARGUMENT, "n_variables = 4"},
    {"-1 variables", variables_of_a_wrong_number, MODE_ERROR_ARGUMENT, "n_variables = 18446744073709551615"},
    {"bins of a variable", variable_bins, MODE_ERROR_OPTION, "bins of variable 1 = -2|at least 1"},
    {"mass_range of a variable", variable_range, MODE_ERROR_OPTION, "mass_range of variable 1 = [3, +Inf]|finite"},
    {"edges of a variable NULL", variable_edges_null, MODE_ERROR_ARGUMENT, "edges of variable 0 is NULL|3 elements"},
    {"edges of a variable", variable_edges, MODE_ERROR_OPTION, "edges[2] of variable 1 = 10|edges[1] of variable 1 = 10"},
    {"edges of all", edges_of_all, MODE_ERROR_OPTION, "edges|one for each"},
};

static void test_spoilt_structs(void) {
    for (size_t k = 0; k < sizeof spoilt_structs / sizeof *spoilt_structs; k++) {
        const char *what = spoilt_structs[k].what, *parts = spoilt_structs[k].parts;
        const int want = spoilt_structs[k].status;
        call c = good();
        const void *const masses[1] = {c.mass};
        double loss = -7, grad[N];
        float single[N];
        mode_variable v[4];
        mode_events e;
        for (int i = 0; i < 4; i++) mode_variable_init(&v[i], sizeof v[i]);
        mode_events_init(&e, sizeof e);
        e.n = N;
        e.score = c.score;
        e.mass = masses;
        e.n_mass = 1;
        c.options.variables = v;
        c.options.n_variables = 2;
        spoilt_structs[k].spoil(&c, &e, v);
        expect(what, mode_events_loss_f64(&c.options, &e, &loss, grad), want, parts);
        expect(what, mode_events_loss_f32(&c.options, &e, &loss, single), want, parts);
        CHECK(loss == -7, "%s: a result was written", what);
    }
}

static void test_structs_that_are_null(void) {
    mode_variable v;
    mode_events e;
    mode_result found;
    double loss;
    float single;
    mode_events_init(&e, sizeof e);
    expect("events", mode_events_loss_f64(NULL, NULL, &loss, NULL), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("events f32", mode_events_loss_f32(NULL, NULL, &loss, &single), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("loss", mode_events_loss_f64(NULL, &e, NULL, NULL), MODE_ERROR_ARGUMENT, "loss is NULL");
    expect("events of a result", mode_evaluate_f64(NULL, NULL, &found, NULL), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("events of a result f32", mode_evaluate_f32(NULL, NULL, &found, &single), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("events of hess", mode_loss_grad_hess_f64(NULL, NULL, 0.1, &loss, NULL, NULL), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("events of hess f32", mode_loss_grad_hess_f32(NULL, NULL, 0.1, &loss, &single, NULL), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("result", mode_evaluate_f64(NULL, &e, NULL, NULL), MODE_ERROR_ARGUMENT, "result is NULL");
    expect("init of events", mode_events_init(NULL, sizeof e), MODE_ERROR_ARGUMENT, "events is NULL");
    expect("init of events, size", mode_events_init(&e, 8), MODE_ERROR_ARGUMENT, "events.struct_size = 8");
    expect("init of a variable", mode_variable_init(NULL, sizeof v), MODE_ERROR_ARGUMENT, "variable is NULL");
    expect("init of a variable, size", mode_variable_init(&v, 8), MODE_ERROR_ARGUMENT, "variable.struct_size = 8");
}

/* Every status has been seen but for those of a forked child (test_threads.c), of DisCo (test_baselines.c) and of a defect. */
static void test_every_status(void) {
    for (int status = MODE_ERROR_ARGUMENT; status < MODE_ERROR_FORKED; status++)
        CHECK(seen[status], "no call returned status %d", status);
    CHECK(!seen[MODE_ERROR_INTERNAL], "%d defects", seen[MODE_ERROR_INTERNAL]);
}

int main(void) {
    alarm(LIMIT);
    test_spoilt_calls();
    test_values_that_are_not_finite();
    test_at();
    test_null();
    test_numbers_of_events();
    test_other_numbers();
    test_spoilt_structs();
    test_structs_that_are_null();
    test_every_status();
    return finish();
}
