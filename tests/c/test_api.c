/*
 * The C functions beyond the numbers: defaults, what lies inside the loss, the
 * message of the last error, the number of threads, and versions.
 */
#include "call.h"

/* ---------------------------------------------------------------- defaults */

static void test_defaults(void) {
    mode_options o;
    memset(&o, 0xff, sizeof o);
    CHECK(mode_options_init(&o, sizeof o) == MODE_OK, "%s", mode_last_error());
    CHECK(o.struct_size == sizeof o, "%zu", o.struct_size);
    CHECK(o.order == 0 && o.bins == 0 && o.binning == MODE_BINNING_QUANTILE, "order, bins, binning");
    CHECK(o.loss == MODE_LOSS_MODE, "loss");
    CHECK(o.moments == MODE_MOMENTS_PROJECTION && o.slope_of == MODE_SLOPE_OF_REJECTED, "moments, slope_of");
    CHECK(o.reduction == MODE_REDUCTION_MEAN && !o.monotonic && o.unbiased == MODE_DEFAULT, "reduction, monotonic, unbiased");
    CHECK(o.max_slope == INFINITY && o.slope_penalty == 0, "max_slope, slope_penalty");
    CHECK(o.mass_range[0] == -INFINITY && o.mass_range[1] == INFINITY, "mass_range");
    CHECK(o.score_range[0] == 0 && o.score_range[1] == 1, "score_range");
    CHECK(!o.joint && o.missing == MODE_MISSING_ERROR && o.basis == MODE_BASIS_LEGENDRE && o.degree == MODE_DEFAULT, "joint, missing, basis, degree");
    CHECK(!o.edges && !o.n_edges && !o.background_label && !o.n_background_label, "edges, background_label");
    CHECK(!o.knots && !o.n_knots && !o.variables && !o.n_variables, "knots, variables");
    CHECK(mode_options_check(&o) == MODE_OK && mode_options_check(NULL) == MODE_OK, "%s", mode_last_error());
}

/* The table of options is that of the members of mode_options. */
static void test_table(void) {
#define MEMBER(name, kind, losses, none) {#name, kind, losses, offsetof(mode_options, name), none}
    const struct {
        const char *name;
        int32_t kind;
        uint32_t losses;
        size_t offset;
        double none;
    } members[] = {
        MEMBER(loss, MODE_KIND_CHOICE, 7, NAN),
        MEMBER(order, MODE_KIND_INTEGER, 1, NAN),
        MEMBER(bins, MODE_KIND_INTEGER, 5, 0),
        MEMBER(binning, MODE_KIND_CHOICE, 5, NAN),
        MEMBER(moments, MODE_KIND_CHOICE, 1, NAN),
        MEMBER(slope_of, MODE_KIND_CHOICE, 1, NAN),
        MEMBER(reduction, MODE_KIND_CHOICE, 1, NAN),
        MEMBER(monotonic, MODE_KIND_FLAG, 1, NAN),
        MEMBER(unbiased, MODE_KIND_FLAG, 3, NAN),
        MEMBER(joint, MODE_KIND_FLAG, 5, NAN),
        MEMBER(missing, MODE_KIND_CHOICE, 5, NAN),
        MEMBER(basis, MODE_KIND_CHOICE, 1, NAN),
        MEMBER(degree, MODE_KIND_INTEGER, 1, MODE_DEFAULT),
        MEMBER(max_slope, MODE_KIND_NUMBER, 1, INFINITY),
        MEMBER(slope_penalty, MODE_KIND_NUMBER, 1, NAN),
        MEMBER(mass_range, MODE_KIND_RANGE, 5, NAN),
        MEMBER(score_range, MODE_KIND_RANGE, 5, NAN),
        MEMBER(edges, MODE_KIND_NUMBERS, 5, NAN),
        MEMBER(knots, MODE_KIND_NUMBERS, 1, NAN),
        MEMBER(variables, MODE_KIND_VARIABLES, 5, NAN),
        MEMBER(background_label, MODE_KIND_LABELS, 7, NAN),
    };
    const size_t count = sizeof members / sizeof *members;
    mode_option row;
    CHECK(mode_option_count() == count, "%zu options", mode_option_count());
    for (size_t k = 0; k < count; k++) {
        CHECK(!mode_option_at(k, &row), "%s", mode_last_error());
        CHECK(!strcmp(row.name, members[k].name) && row.offset == members[k].offset, "%s at %zu", row.name, row.offset);
        CHECK(row.kind == members[k].kind && row.losses == members[k].losses, "%s: %d, %u", row.name, row.kind, row.losses);
        CHECK(row.none == members[k].none || (isnan(row.none) && isnan(members[k].none)), "%s: %g", row.name, row.none);
        CHECK((row.kind == MODE_KIND_CHOICE) == (row.n_values > 0) && !row.n_values == !row.values, "%s: values", row.name);
    }
    CHECK(!mode_option_at(3, &row) && row.n_values == 4 && !strcmp(row.values[MODE_BINNING_VALUES], "values"), "binning");
    CHECK(!mode_option_at(0, &row) && !strcmp(row.values[MODE_LOSS_FLATNESS], "flatness"), "loss");
    expect("past the end", mode_option_at(count, &row), MODE_ERROR_ARGUMENT, "k = 21|21 options");
    expect("nowhere", mode_option_at(0, NULL), MODE_ERROR_ARGUMENT, "option is NULL");
}

/* A loss that has lost its meaning is MODE_OK, with a warning until the next call. */
static void test_warning(void) {
    enum { MANY = 60 };
    mode_options o;
    double score[MANY], mass[MANY], loss;
    for (int i = 0; i < MANY; i++) {
        score[i] = (i * 37 % MANY + 0.5) / (double)MANY;
        mass[i] = i;
    }
    CHECK(!mode_options_init(&o, sizeof o), "%s", mode_last_error());
    o.order = 2;
    o.bins = 6;
    o.monotonic = 1;
    CHECK(!mode_loss_f64(&o, MANY, score, mass, NULL, NULL, 0, &loss), "%s", mode_last_error());
    CHECK(!*mode_last_warning(), "%s", mode_last_warning());
    mass[7] = 1e6;
    CHECK(!mode_loss_f64(&o, MANY, score, mass, NULL, NULL, 0, &loss), "%s", mode_last_error());
    CHECK(strstr(mode_last_warning(), "mass = 1e+06 is so far from most others"), "%s", mode_last_warning());
    CHECK(!mode_options_check(&o) && !*mode_last_warning(), "%s", mode_last_warning());
}

static void test_begun_structs(void) {
    mode_variable v;
    mode_events e;
    memset(&v, 0xff, sizeof v);
    memset(&e, 0xff, sizeof e);
    CHECK(mode_variable_init(&v, sizeof v) == MODE_OK && v.struct_size == sizeof v, "%s", mode_last_error());
    CHECK(v.bins == 0 && v.mass_range[0] == -INFINITY && v.mass_range[1] == INFINITY, "bins, mass_range");
    CHECK(!v.edges && !v.n_edges && !v.knots && !v.n_knots, "edges, knots");
    CHECK(mode_events_init(&e, sizeof e) == MODE_OK && e.struct_size == sizeof e, "%s", mode_last_error());
    CHECK(!e.n && !e.score && !e.mass && !e.n_mass && !e.weight && !e.label && !e.category, "pointers");
    CHECK(e.label_type == MODE_LABEL_INT32 && e.category_type == MODE_LABEL_INT32, "types");
}

/* The default of unbiased follows the loss: on with MoDe, off with DisCo. */
static void test_unbiased_by_default(void) {
    for (int32_t loss = MODE_LOSS_MODE; loss <= MODE_LOSS_DISCO; loss++) {
        call c = good();
        double value[3] = {NAN, NAN, NAN};
        mode_options_init(&c.options, sizeof c.options);
        c.options.loss = loss;
        for (int32_t unbiased = MODE_DEFAULT; unbiased <= 1; unbiased++) {
            c.options.unbiased = unbiased;
            CHECK(!mode_loss_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, &value[unbiased + 1]), "%s", mode_last_error());
        }
        CHECK(value[1] != value[2] && value[0] == value[loss == MODE_LOSS_MODE ? 2 : 1], "loss %d: %g %g %g", loss, value[0], value[1], value[2]);
    }
}

static void test_null_options_are_the_defaults(void) {
    call c = good();
    double with = NAN, without = NAN;
    mode_options_init(&c.options, sizeof c.options);
    CHECK(!mode_loss_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, &with), "%s", mode_last_error());
    CHECK(!mode_loss_f64(NULL, N, c.score, c.mass, NULL, NULL, 0, &without), "%s", mode_last_error());
    CHECK(with == without, "%.17g, %.17g", with, without);
}

static void test_grad_may_be_null_and_weights_of_1_are_none(void) {
    call c = good();
    double loss = NAN, grad[N], without = NAN;
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &loss, grad), "%s", mode_last_error());
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, &without, NULL), "%s", mode_last_error());
    CHECK(fabs(loss - without) <= 1e-14 * fabs(loss), "%.17g, %.17g", loss, without); /* other steps, rounded */
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
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &loss, grad), "%s", mode_last_error());
    CHECK(loss == want, "%.17g, %.17g", loss, want);
    for (int i = N - 4; i < N; i++) CHECK(grad[i] == 0, "grad[%d] = %g", i, grad[i]);
}

/* Labels of each type are read as they are. */
static void test_labels_of_every_type(void) {
    call c = good();
    double want = NAN, want_grad[N], edges[5], want_edges[5], cdf[4], want_cdf[4];
    const double at = 0.5;
    size_t n = 0;
    int8_t of_int8[N];
    uint8_t of_uint8[N];
    int64_t of_int64[N];
    float of_float[N];
    double of_double[N];
    for (int i = 0; i < N; i++) {
        const int label = c.label[i] = i % 3;
        of_int8[i] = (int8_t)label;
        of_uint8[i] = (uint8_t)label;
        of_int64[i] = label ? label + ((int64_t)1 << 32) : 0; /* 1 and 2 in 32 bits, but others */
        of_float[i] = label ? (float)label / 4 : 0;
        of_double[i] = label ? NAN : 0;
    }
    const struct {
        const void *label;
        int type;
    } given[] = {{of_int8, MODE_LABEL_INT8},   {of_uint8, MODE_LABEL_UINT8},     {of_int64, MODE_LABEL_INT64},
                 {of_float, MODE_LABEL_FLOAT32}, {of_double, MODE_LABEL_FLOAT64}};
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &want, want_grad), "%s", mode_last_error());
    CHECK(!mode_edges_f64(&c.options, N, c.mass, NULL, c.label, MODE_LABEL_INT32, 5, want_edges, &n), "%s", mode_last_error());
    CHECK(!mode_moments_f64(&c.options, N, c.score, c.mass, NULL, c.label, MODE_LABEL_INT32, 1, &at, 4, want_cdf, NULL, NULL), "%s", mode_last_error());
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        double loss = NAN, grad[N];
        const void *label = given[k].label;
        const int type = given[k].type;
        CHECK(!mode_loss_f64(&c.options, N, c.score, c.mass, c.weight, label, type, &loss) && loss == want, "type %d: %.17g, %.17g, %s", type, loss, want, mode_last_error());
        CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, label, type, &loss, grad) && loss == want, "type %d", type);
        for (int i = 0; i < N; i++) CHECK(grad[i] == want_grad[i], "type %d: grad[%d] = %g", type, i, grad[i]);
        CHECK(!mode_edges_f64(&c.options, N, c.mass, NULL, label, type, 5, edges, &n) && !memcmp(edges, want_edges, sizeof edges), "type %d", type);
        CHECK(!mode_moments_f64(&c.options, N, c.score, c.mass, NULL, label, type, 1, &at, 4, cdf, NULL, NULL) && !memcmp(cdf, want_cdf, sizeof cdf), "type %d", type);
    }
}

/* ------------------------------------------------------------------ events */

/* mode_events with the arrays of a call; `masses` is where the pointer to the masses goes. */
static mode_events events_of(const call *c, const void **masses) {
    mode_events e;
    mode_events_init(&e, sizeof e);
    masses[0] = c->mass;
    e.n = c->n;
    e.score = c->score;
    e.mass = masses;
    e.n_mass = 1;
    e.weight = c->weight;
    e.label = c->label;
    return e;
}

/* The general function is the four others. */
static void test_events_of_one_variable(void) {
    call c = good();
    const void *masses[1];
    const mode_events e = events_of(&c, masses);
    double want = NAN, loss = NAN, want_grad[N], grad[N];
    float score[N], mass[N], single[N], want_single[N];
    const void *float_masses[1] = {mass};
    mode_events in_float = e;
    for (int i = 0; i < N; i++) c.label[i] = i % 7 == 3;
    CHECK(!mode_loss_grad_f64(&c.options, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, &want, want_grad), "%s", mode_last_error());
    CHECK(!mode_events_loss_f64(&c.options, &e, &loss, grad) && loss == want, "%.17g, want %.17g, %s", loss, want, mode_last_error());
    CHECK(!memcmp(grad, want_grad, sizeof grad), "the gradient");
    CHECK(!mode_events_loss_f64(&c.options, &e, &loss, NULL), "%s", mode_last_error());

    for (int i = 0; i < N; i++) score[i] = (float)c.score[i], mass[i] = (float)c.mass[i];
    in_float.score = score;
    in_float.mass = float_masses;
    in_float.weight = NULL;
    CHECK(!mode_loss_grad_f32(&c.options, N, score, mass, NULL, c.label, MODE_LABEL_INT32, &want, want_single), "%s", mode_last_error());
    CHECK(!mode_events_loss_f32(&c.options, &in_float, &loss, single) && loss == want, "%.17g, want %.17g, %s", loss, want, mode_last_error());
    CHECK(!memcmp(single, want_single, sizeof single), "the gradient");
    CHECK(!mode_events_loss_f32(NULL, &in_float, &loss, NULL), "NULL options: %s", mode_last_error());
}

/* The loss and the gradient are those of the loss, the bias is what the plain loss has more than the unbiased one. */
static void test_evaluate(void) {
    call c = good();
    const void *masses[1], *float_masses[1];
    const mode_events e = events_of(&c, masses);
    double loss = NAN, plain = NAN, unbiased = NAN, want[N], grad[N], w = 0, squares = 0;
    float score[N], mass[N], single[N], want_single[N];
    mode_result found = {NAN, NAN, NAN};
    mode_events in_float = e;
    CHECK(!mode_events_loss_f64(&c.options, &e, &loss, want), "%s", mode_last_error());
    CHECK(!mode_evaluate_f64(&c.options, &e, &found, grad) && found.loss == loss, "%.17g, want %.17g, %s", found.loss, loss, mode_last_error());
    CHECK(!memcmp(grad, want, sizeof grad), "the gradient");
    c.options.unbiased = 1;
    CHECK(!mode_events_loss_f64(&c.options, &e, &unbiased, NULL), "%s", mode_last_error());
    c.options.unbiased = 0;
    CHECK(!mode_events_loss_f64(&c.options, &e, &plain, NULL), "%s", mode_last_error());
    CHECK(fabs(found.bias - (plain - unbiased)) < 1e-12 && found.bias > 0, "bias %.17g, want %.17g", found.bias, plain - unbiased);
    for (int i = 0; i < N; i++) w += c.weight[i], squares += c.weight[i] * c.weight[i];
    CHECK(fabs(found.events - w * w / squares) < 1e-9, "%.17g events, want %.17g", found.events, w * w / squares);
    CHECK(!mode_evaluate_f64(&c.options, &e, &found, NULL) && found.loss == plain, "without grad: %s", mode_last_error());

    for (int i = 0; i < N; i++) score[i] = (float)c.score[i], mass[i] = (float)c.mass[i];
    float_masses[0] = mass;
    in_float.score = score;
    in_float.mass = float_masses;
    in_float.weight = NULL;
    CHECK(!mode_events_loss_f32(NULL, &in_float, &loss, want_single), "%s", mode_last_error());
    CHECK(!mode_evaluate_f32(NULL, &in_float, &found, single) && found.loss == loss && found.events == (double)N, "%s", mode_last_error());
    CHECK(!memcmp(single, want_single, sizeof single), "the gradient");
    c.options.loss = MODE_LOSS_DISCO;
    found.loss = -7;
    CHECK(mode_evaluate_f64(&c.options, &e, &found, NULL) == MODE_ERROR_OPTION && found.loss == -7, "%s", mode_last_error());
}

/* The push of a batch, alone and with a sum; events outside get none, and reference events are counted in nothing. */
static void test_direction(void) {
    call c = good();
    const void *masses[1];
    const mode_events e = events_of(&c, masses);
    mode_steering how;
    mode_pushed found = {0}, other = {0};
    double push[N], twice[N], residual[12 * 12], sum[12 * 12];
    mode_result result;
    const void *float_masses[1];
    float score[N], mass[N], single[N];
    mode_events in_float = e;
    CHECK(mode_direction_size(1, 1) == 144 && mode_direction_size(2, 3) == 900 && !mode_direction_size(0, 1) && !mode_direction_size(1, 0),
          "%zu", mode_direction_size(1, 1));
    CHECK(!mode_steering_init(&how, sizeof how) && how.rate == 1 && how.factor == 1 && !how.sum, "%s", mode_last_error());
    CHECK(!mode_direction_f64(&c.options, &e, &how, &found, push, residual), "%s", mode_last_error());
    CHECK(!mode_evaluate_f64(&c.options, &e, &result, NULL), "%s", mode_last_error());
    CHECK(found.moved > 0 && found.norm > 0 && found.spread > 0 && found.events == result.events, "%zu moved", found.moved);
    how.factor = 0;
    how.sum = residual;
    how.n_sum = 144;
    CHECK(!mode_direction_f64(&c.options, &e, &how, &other, twice, NULL), "%s", mode_last_error());
    for (int i = 0; i < N; i++) CHECK(fabs(twice[i] - push[i]) < 1e-9, "event %d: %g, want %g", i, twice[i], push[i]);
    how.batch = N / 2;
    CHECK(!mode_direction_f64(&c.options, &e, &how, &other, twice, NULL) && other.moved < found.moved, "%s", mode_last_error());
    for (int i = 0; i < N / 2; i++) CHECK(fabs(twice[i] - push[i]) < 1e-9, "event %d: %g, want %g", i, twice[i], push[i]);
    how.batch = N + 1;
    CHECK(mode_direction_f64(&c.options, &e, &how, &other, twice, NULL) == MODE_ERROR_ARGUMENT, "a batch of more than all");
    how.batch = 0;
    memcpy(sum, residual, sizeof sum);
    sum[7] = NAN;
    how.sum = sum;
    CHECK(mode_direction_f64(&c.options, &e, &how, &other, twice, NULL) == MODE_ERROR_NOT_FINITE && strstr(mode_last_error(), "sum[7]"), "%s", mode_last_error());
    how.n_sum = 3;
    CHECK(mode_direction_f64(&c.options, &e, &how, &other, twice, NULL) == MODE_ERROR_ARGUMENT && strstr(mode_last_error(), "sum"), "%s", mode_last_error());
    how.sum = NULL;
    how.rate = 2;
    CHECK(mode_direction_f64(&c.options, &e, &how, &other, twice, NULL) == MODE_ERROR_OPTION && strstr(mode_last_error(), "rate = 2"), "%s", mode_last_error());
    CHECK(mode_direction_f64(&c.options, &e, NULL, &other, twice, NULL) == MODE_ERROR_ARGUMENT, "%s", mode_last_error());

    for (int i = 0; i < N; i++) score[i] = (float)c.score[i], mass[i] = (float)c.mass[i];
    float_masses[0] = mass;
    in_float.score = score;
    in_float.mass = float_masses;
    in_float.weight = NULL;
    CHECK(!mode_steering_init(&how, sizeof how), "%s", mode_last_error());
    CHECK(!mode_direction_f32(&c.options, &in_float, &how, &other, single, NULL) && other.moved > 0, "%s", mode_last_error());
}

/*
 * The loss and the gradient are those of the loss. All scores are equal and there are two bins of n/2 events of weight 1,
 * for which M is {1/2, -1/2; -1/2, 1/2} and so h_i = 4/2 2/n 1/2 1/window.
 */
static void test_loss_grad_hess(void) {
    call c = good();
    const void *masses[1], *float_masses[1];
    mode_events e = events_of(&c, masses);
    double loss = NAN, want_loss = NAN, want[N], grad[N], hess[N];
    float score[N], mass[N], single[N], single_hess[N];
    CHECK(!mode_events_loss_f64(&c.options, &e, &want_loss, want), "%s", mode_last_error());
    CHECK(!mode_loss_grad_hess_f64(&c.options, &e, 0.1, &loss, grad, hess) && loss == want_loss, "%.17g, want %.17g, %s", loss, want_loss, mode_last_error());
    CHECK(!memcmp(grad, want, sizeof grad), "the gradient");
    memset(grad, 0, sizeof grad);
    CHECK(!mode_loss_grad_hess_f64(&c.options, &e, 0.1, NULL, grad, NULL), "gradient alone: %s", mode_last_error());
    CHECK(!memcmp(grad, want, sizeof grad), "the gradient alone");
    memcpy(want, hess, sizeof hess);
    CHECK(!mode_loss_grad_hess_f64(&c.options, &e, 0.1, NULL, NULL, hess) && !memcmp(hess, want, sizeof hess), "hess alone: %s", mode_last_error());
    CHECK(!mode_loss_grad_hess_f64(&c.options, &e, 0.1, NULL, NULL, NULL), "nothing: %s", mode_last_error());

    for (int i = 0; i < N; i++) score[i] = 0.25f, mass[i] = (float)i;
    float_masses[0] = mass;
    e.score = score;
    e.mass = float_masses;
    e.weight = e.label = NULL;
    c.options = (mode_options){0};
    CHECK(!mode_options_init(&c.options, sizeof c.options), "%s", mode_last_error());
    c.options.bins = 2;
    for (int k = 0; k < 2; k++) {
        const double smoothing = k ? (double)MODE_DEFAULT : 1. / 32, h = 2. / (double)N / (k ? 1. / 16 : 1. / 32);
        CHECK(!mode_loss_grad_hess_f32(&c.options, &e, smoothing, &loss, single, single_hess), "%s", mode_last_error());
        for (int i = 0; i < N; i++) CHECK(fabs(single_hess[i] - h) < 1e-6 * h, "hess[%d] = %g, want %g", i, single_hess[i], h);
    }

    loss = -7;
    CHECK(mode_loss_grad_hess_f32(&c.options, &e, 0, &loss, single, single_hess) == MODE_ERROR_OPTION && loss == -7, "%s", mode_last_error());
    CHECK(strstr(mode_last_error(), "smoothing = 0"), "%s", mode_last_error());
    CHECK(mode_loss_grad_hess_f32(&c.options, &e, NAN, &loss, single, single_hess) == MODE_ERROR_OPTION, "%s", mode_last_error());
    CHECK(strstr(mode_last_error(), "smoothing = NaN"), "%s", mode_last_error());
    c.options.loss = MODE_LOSS_FLATNESS;
    CHECK(mode_loss_grad_hess_f32(&c.options, &e, 0.1, &loss, single, single_hess) == MODE_ERROR_OPTION && loss == -7, "%s", mode_last_error());
}

/* -------------------------------------------------------------- look inside */

static void test_edges(void) {
    call c = good();
    double edges[5];
    size_t n = 0;
    CHECK(!mode_edges_f64(&c.options, N, c.mass, NULL, NULL, 0, 0, NULL, &n) && n == 5, "asking for the number: %zu", n);
    CHECK(!mode_edges_f64(&c.options, N, c.mass, NULL, c.label, MODE_LABEL_INT32, 5, edges, &n) && n == 5, "%s", mode_last_error());
    CHECK(edges[0] == 0 && edges[1] == 15.5 && edges[2] == 31.5 && edges[3] == 47.5 && edges[4] == 63, "quantiles");
    expect("capacity", mode_edges_f64(&c.options, N, c.mass, NULL, NULL, 0, 4, edges, &n), MODE_ERROR_ARGUMENT, "capacity = 4|5 edges");
    give_labels(&c, 2);
    c.background[1] = 1;
    expect("two labels", mode_edges_f64(&c.options, N, c.mass, NULL, c.label, MODE_LABEL_INT32, 5, edges, &n), MODE_ERROR_OPTION, "background_label|one at a time");
}

static void test_moments(void) {
    call c = good();
    const double at[3] = {1, -0.5, 0.5};
    double cdf[12], moments[6], bounded[6];
    int status;
    c.options.order = 1;
    c.options.max_slope = 0.01;
    status = mode_moments_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, 3, at, 4, cdf, moments, bounded);
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
    CHECK(!mode_moments_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, 3, at, 4, NULL, NULL, NULL), "%s", mode_last_error());
    status = mode_moments_f64(&c.options, N, c.score, c.mass, NULL, NULL, 0, 3, at, 5, cdf, NULL, NULL);
    expect("n_bins", status, MODE_ERROR_ARGUMENT, "n_bins = 5|4 bins");
}

/* Of scores and masses that float holds exactly: those of double, which are tested above. */
static void test_edges_and_moments_of_float(void) {
    call c = good();
    const double at[2] = {0.25, 0.5};
    float score[N], mass[N], weight[N];
    double edges[5], want_edges[5], cdf[8], want_cdf[8], moments[4], want_moments[4], bounded[4], want_bounded[4];
    size_t n = 0, want = 0;
    c.options.order = 1;
    c.options.max_slope = 0.01;
    for (int i = 0; i < N; i++) {
        c.label[i] = i % 7 == 3;
        c.weight[i] = 1 + i % 3;
        score[i] = (float)c.score[i], mass[i] = (float)c.mass[i], weight[i] = (float)c.weight[i];
    }
    CHECK(!mode_edges_f64(&c.options, N, c.mass, c.weight, c.label, MODE_LABEL_INT32, 5, want_edges, &want), "%s", mode_last_error());
    CHECK(!mode_edges_f32(&c.options, N, mass, weight, c.label, MODE_LABEL_INT32, 5, edges, &n) && n == want, "%zu, want %zu, %s", n, want, mode_last_error());
    CHECK(!memcmp(edges, want_edges, sizeof edges), "the edges");
    CHECK(!mode_moments_f64(&c.options, N, c.score, c.mass, c.weight, c.label, MODE_LABEL_INT32, 2, at, 4, want_cdf, want_moments, want_bounded), "%s", mode_last_error());
    CHECK(!mode_moments_f32(&c.options, N, score, mass, weight, c.label, MODE_LABEL_INT32, 2, at, 4, cdf, moments, bounded), "%s", mode_last_error());
    for (int k = 0; k < 8; k++) CHECK(fabs(cdf[k] - want_cdf[k]) < 1e-14 && cdf[k] > 0, "cdf[%d] = %g, want %g", k, cdf[k], want_cdf[k]);
    for (int k = 0; k < 4; k++) {
        CHECK(fabs(moments[k] - want_moments[k]) < 1e-14 && moments[k] != 0, "moments[%d] = %g, want %g", k, moments[k], want_moments[k]);
        CHECK(fabs(bounded[k] - want_bounded[k]) < 1e-14, "bounded[%d] = %g, want %g", k, bounded[k], want_bounded[k]);
    }
}

/* -------------------------------------------------------------- the library */

static void test_the_message_stays_until_the_next_error(void) {
    call c = good();
    expect("first", mode_set_threads(-1), MODE_ERROR_ARGUMENT, "threads");
    loss_of(&c);
    check_message("after a good call", "threads");
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

int main(void) {
    CHECK(!strcmp(mode_last_error(), ""), "a message before any error: %s", mode_last_error());
    test_versions();
    test_defaults();
    test_table();
    test_warning();
    test_begun_structs();
    test_unbiased_by_default();
    test_null_options_are_the_defaults();
    test_grad_may_be_null_and_weights_of_1_are_none();
    test_events_of_other_labels_are_not_looked_at();
    test_labels_of_every_type();
    test_events_of_one_variable();
    test_evaluate();
    test_direction();
    test_loss_grad_hess();
    test_edges();
    test_moments();
    test_edges_and_moments_of_float();
    test_the_message_stays_until_the_next_error();
    test_number_of_threads();
    return finish();
}
