/*
 * DisCo and the flatness loss against their definitions, written out over all
 * pairs of events and over all scores, and their errors.
 */
#include "call.h"

/* Events with ties and weights of either sign, which float holds exactly. */
static call uneven(void) {
    call c = good();
    for (int i = 0; i < N; i++) {
        c.mass[i] = 1e6 + (i * i) % 91;
        c.score[i] = (37 * i % N / 4 + 0.25 + i * i % 5 / 8.0) / 64;
        c.weight[i] = i % 9 ? 1 + i % 4 : -0.5;
    }
    return c;
}

/* ------------------------------------------------------------- definitions */

/* a[i][j] = |z_i - z_j|, doubly centered with weights, as the authors of DisCo do. */
static void centered(const double *z, const double *weight, double a[N][N]) {
    double row[N] = {0}, all = 0, total = 0;
    for (int i = 0; i < N; i++) total += weight[i];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) row[i] += weight[j] / total * fabs(z[i] - z[j]);
        all += weight[i] / total * row[i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = fabs(z[i] - z[j]) - row[i] - row[j] + all;
}

static double disco(const double *score, const double *mass, const double *weight) {
    static double a[N][N], b[N][N];
    double ab = 0, aa = 0, bb = 0;
    centered(mass, weight, a);
    centered(score, weight, b);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double w = weight[i] * weight[j];
            ab += w * a[i][j] * b[i][j];
            aa += w * a[i][j] * a[i][j];
            bb += w * b[i][j] * b[i][j];
        }
    return ab / sqrt(aa * bb);
}

/* The flatness loss on the two bins below and above a mass, over scores in [0, 1]. */
static double flatness(const double *score, const double *mass, const double *weight) {
    const double edge = 1e6 + 40.5;
    double total[2] = {0}, loss = 0;
    for (int i = 0; i < N; i++) total[mass[i] > edge] += weight[i];
    for (int k = -1; k < N; k++) { /* from each score to the next above it */
        const double from = k < 0 ? 0 : score[k];
        double to = 1, sum[2] = {0}, cdf = 0;
        int repeated = 0;
        for (int i = 0; i < N; i++) {
            repeated |= i < k && score[i] == from;
            if (score[i] <= from) sum[mass[i] > edge] += weight[i];
            else to = fmin(to, score[i]);
        }
        cdf = (sum[0] + sum[1]) / (total[0] + total[1]);
        for (int b = 0; b < 2 && !repeated; b++)
            loss += (to - from) * total[b] / (total[0] + total[1]) * pow(sum[b] / total[b] - cdf, 2);
    }
    return loss;
}

/* ------------------------------------------------------------------ values */

/* Compares with a definition, whose central differences are the mean of both sides at ties. */
static void compare(const char *what, const mode_options *o,
                    double definition(const double *, const double *, const double *)) {
    call c = uneven();
    const double step = 1e-6, want = definition(c.score, c.mass, c.weight);
    double grad[N], largest = 0;
    single s;
    float grad_f[N];
    mode_result found = {NAN, NAN, NAN}, alone = found;
    c.options = *o;
    CHECK(!evaluate(&c, &found, grad) && !evaluate(&c, &alone, NULL), "%s", mode_last_error());
    CHECK(fabs(found.loss - want) <= 1e-12 * want && alone.loss == found.loss, "%s: %.17g, %.17g, want %.17g", what, found.loss, alone.loss, want);
    for (int i = 0; i < N; i++) largest = fmax(largest, fabs(grad[i]));
    set_single(&s, &c);
    for (int i = 0; i < N; i++) {
        double up, down, slope;
        c.score[i] += step;
        up = definition(c.score, c.mass, c.weight);
        c.score[i] -= 2 * step;
        down = definition(c.score, c.mass, c.weight);
        c.score[i] += step;
        slope = (up - down) / (2 * step);
        CHECK(fabs(grad[i] - slope) <= 1e-6 * largest, "%s: grad[%d] = %.9g, want %.9g", what, i, grad[i], slope);
    }
    CHECK(!mode_evaluate_f32(o, &s.events, &found, grad_f, NULL), "%s", mode_last_error());
    CHECK(fabs(found.loss - want) <= 1e-12 * want, "%s: %.9g, want %.9g", what, found.loss, want);
    for (int i = 0; i < N; i++) CHECK(fabs((double)grad_f[i] - grad[i]) <= 1e-6 * largest, "%s: grad_f[%d] = %g", what, i, (double)grad_f[i]);
}

static void test_definitions(void) {
    const double edges[3] = {1e6, 1e6 + 40.5, 1e6 + 90};
    mode_options o;
    mode_options_init(&o, sizeof o);
    o.loss = MODE_LOSS_DISCO;
    compare("disco", &o, disco);
    o.loss = MODE_LOSS_FLATNESS;
    o.binning = MODE_BINNING_EDGES;
    o.edges = edges;
    o.n_edges = 3;
    compare("flatness", &o, flatness);
}

/* Four events by hand. Of scores 0, 1, 2, 3 the U-centered distances are, from the row
   sums 6, 4, 4, 6 and the total 20: 1 - 5 + 10/3 = -2/3 next to each other at the
   ends, 1 - 4 + 10/3 = 1/3 in the middle, 2 - 5 + 10/3 = 1/3 two apart, and
   3 - 6 + 10/3 = 1/3 three apart; with masses 0, 1, 3, 2 the last two events swap. */
static void test_unbiased_by_hand(void) {
    const double score[4] = {0, 1, 2, 3}, mass[4] = {0, 1, 3, 2};
    const double u[4][4] = {{0, -2, 1, 1}, {-2, 0, 1, 1}, {1, 1, 0, -2}, {1, 1, -2, 0}}; /* times 3 */
    double loss, ab = 0, aa = 0;
    call c = good();
    mode_options_init(&c.options, sizeof c.options);
    c.options.loss = MODE_LOSS_DISCO;
    c.options.unbiased = 1;
    c.n = 4;
    memcpy(c.score, score, sizeof score);
    memcpy(c.mass, mass, sizeof mass);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            ab += u[i][j] * u[(int)mass[i]][(int)mass[j]];
            aa += u[i][j] * u[i][j];
        }
    loss = loss_of(&c);
    CHECK(fabs(loss - ab / aa) <= 1e-14, "%.17g, want %.17g", loss, ab / aa);
}

/* ---------------------------------------------------- distance correlation */

/* The value and both gradients, which have no labels and no options, and are alike in both arguments. */
static void test_distance_correlation(void) {
    call c = uneven();
    const double want = disco(c.score, c.mass, c.weight), step = 1e-6;
    mode_result found;
    double value = NAN, alone = NAN, swapped = NAN, grad_x[N], grad_y[N], other_x[N], other_y[N];
    float score[N], mass[N], weight[N], single_y[N];
    CHECK(!mode_distance_correlation_f64(N, c.mass, c.score, c.weight, 0, &value, grad_x, grad_y), "%s", mode_last_error());
    CHECK(fabs(value - want) <= 1e-12 * want, "%.17g, want %.17g", value, want);
    CHECK(!mode_distance_correlation_f64(N, c.score, c.mass, c.weight, 0, &swapped, other_y, other_x), "%s", mode_last_error());
    CHECK(!mode_distance_correlation_f64(N, c.mass, c.score, c.weight, 0, &alone, NULL, NULL) && alone == value, "%.17g", alone);
    for (int i = 0; i < N; i++) {
        double *const places[] = {&c.mass[i], &c.score[i]};
        for (int k = 0; k < 2; k++) {
            const double here = *places[k], size = k ? step : 1e3 * step, got = k ? grad_y[i] : grad_x[i];
            double slope;
            *places[k] = here + size;
            slope = disco(c.score, c.mass, c.weight);
            *places[k] = here - size;
            slope = (slope - disco(c.score, c.mass, c.weight)) / (2 * size);
            *places[k] = here;
            CHECK(fabs(slope - got) <= (k ? 1e-7 : 1e-9), "%d of %d: %.10g, want %.10g", k, i, got, slope);
        }
        CHECK(fabs(other_x[i] - grad_x[i]) <= 1e-14 && fabs(other_y[i] - grad_y[i]) <= 1e-12, "the other way round");
        score[i] = (float)c.score[i];
        mass[i] = (float)c.mass[i];
        weight[i] = (float)c.weight[i];
    }
    CHECK(!mode_distance_correlation_f32(N, mass, score, weight, 0, &alone, NULL, single_y), "%s", mode_last_error());
    CHECK(alone == value, "float: %.17g, double: %.17g", alone, value);
    for (int i = 0; i < N; i++) CHECK(single_y[i] == (float)grad_y[i], "%g, want %g", single_y[i], grad_y[i]);

    /* With unbiased, as the loss DisCo. */
    c.options.bins = 0;
    c.options.loss = MODE_LOSS_DISCO;
    c.options.unbiased = 1;
    CHECK(!evaluate(&c, &found, other_y), "%s", mode_last_error());
    CHECK(!mode_distance_correlation_f64(N, c.mass, c.score, c.weight, 1, &alone, NULL, grad_y), "%s", mode_last_error());
    CHECK(alone == found.loss && !memcmp(grad_y, other_y, sizeof grad_y), "%.17g, want %.17g", alone, found.loss);

    value = -7;
#define CORRELATION(n, unbiased) mode_distance_correlation_f64(n, c.mass, c.score, c.weight, unbiased, &value, grad_x, grad_y)
    expect("no value", mode_distance_correlation_f64(N, c.mass, c.score, NULL, 0, NULL, NULL, NULL), MODE_ERROR_ARGUMENT, "value is NULL");
    expect("no x", mode_distance_correlation_f64(N, NULL, c.score, NULL, 0, &value, NULL, NULL), MODE_ERROR_ARGUMENT, "x is NULL|64 elements");
    expect("no y", mode_distance_correlation_f64(N, c.mass, NULL, NULL, 0, &value, NULL, NULL), MODE_ERROR_ARGUMENT, "y is NULL|64 elements");
    expect("one event", CORRELATION(1, 0), MODE_ERROR_TOO_FEW, "1 events|at least 2");
    expect("three events", CORRELATION(3, 1), MODE_ERROR_TOO_FEW, "3 events|unbiased = true|at least 4");
    expect("no event", CORRELATION(0, 0), MODE_ERROR_TOO_FEW, "0 events");
    c.score[5] = INFINITY;
    expect("infinite", CORRELATION(N, 0), MODE_ERROR_NOT_FINITE, "y[5] = +Inf");
    for (int i = 0; i < N; i++) c.score[i] = 0.5;
    expect("y equal", CORRELATION(N, 0), MODE_ERROR_UNDEFINED, "y: all 64 events|same y 0.5|0/0");
#undef CORRELATION
    CHECK(value == -7, "a result was written");
}

/* ------------------------------------------------------------------ errors */

/* A call with a loss and its default options. */
static call of_loss(int32_t loss) {
    call c = good();
    c.options.bins = 0;
    c.options.loss = loss;
    return c;
}

static void test_errors(void) {
    const int undefined = MODE_ERROR_UNDEFINED, option = MODE_ERROR_OPTION;
    double grad[N];
    mode_result found = {-7, -7, -7};
    call c = of_loss(MODE_LOSS_DISCO);

#define LOSS(events) (c.n = events, evaluate(&c, &found, grad))
    for (int i = 0; i < N; i++) c.mass[i] = 0;
    expect("masses equal", LOSS(N), undefined, "all 64 selected events|same mass 0|0/0");
    c = of_loss(MODE_LOSS_DISCO);
    for (int i = 0; i < N; i++) c.score[i] = 0.5;
    expect("scores equal", LOSS(N), undefined, "score|same score 0.5|0/0");
    c = of_loss(MODE_LOSS_DISCO);
    for (int i = 0; i < N; i++) c.weight[i] = -1;
    expect("weights", LOSS(N), undefined, "weight|sum of weights -64|positive");
    c = of_loss(MODE_LOSS_DISCO);
    for (int i = 1; i < N; i++) c.weight[i] = 0;
    expect("one event in effect", LOSS(N), undefined, "mass|distance variance");
    c = of_loss(MODE_LOSS_DISCO);
    expect("one event", LOSS(1), MODE_ERROR_TOO_FEW, "1 selected events|unbiased = false|at least 2");
    expect("no event", LOSS(0), MODE_ERROR_TOO_FEW, "empty");
    c.options.unbiased = 1;
    expect("three events", LOSS(3), MODE_ERROR_TOO_FEW, "3 selected events|unbiased = true|at least 4");
    c.score[5] = NAN;
    expect("NaN", LOSS(N), MODE_ERROR_NOT_FINITE, "score[5] = NaN");
    c = of_loss(MODE_LOSS_DISCO);
    c.options.bins = 4;
    expect("bins", LOSS(N), option, "bins = 4|no meaning for loss = disco");
    c = of_loss(MODE_LOSS_FLATNESS);
    c.options.order = 1;
    expect("order", LOSS(N), option, "order = 1|no meaning for loss = flatness");
    c = of_loss(MODE_LOSS_FLATNESS);
    c.options.unbiased = 1;
    expect("unbiased", LOSS(N), option, "unbiased = true|no meaning for loss = flatness");
    c = of_loss(MODE_LOSS_FLATNESS);
    c.score[3] = 1.5;
    expect("score outside", LOSS(N), MODE_ERROR_SCORE_RANGE, "score[3] = 1.5");
    c = of_loss(3);
    expect("loss", LOSS(N), option, "loss = 3|mode, disco, flatness");
#undef LOSS
    CHECK(found.loss == -7, "a result was written");
}

int main(void) {
    test_definitions();
    test_unbiased_by_hand();
    test_distance_correlation();
    test_errors();
    return finish();
}
