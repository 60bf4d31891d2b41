/*
 * The golden cases through mode_evaluate, in both precisions. write_cases.py writes golden.h.
 */
#include <math.h>

#include "check.h"
#include "golden.h"

/* Relative to the largest element. */
static const double double_tolerance = 1e-9, float_tolerance = 1e-5;

static void compare(const golden_case *c, int status, double loss, const double *grad, double tolerance) {
    double largest = 0, worst = 0;
    CHECK(status == MODE_OK, "%s: %s", c->name, mode_last_error());
    CHECK(fabs(loss - c->loss) <= tolerance * fabs(c->loss), "%s: loss %.17g, want %.17g", c->name, loss, c->loss);
    if (!grad) return;
    for (size_t i = 0; i < c->n; i++) {
        largest = fmax(largest, fabs(c->grad[i]));
        if (!(fabs(grad[i] - c->grad[i]) <= worst)) worst = fabs(grad[i] - c->grad[i]); /* NaN too */
    }
    CHECK(worst <= tolerance * largest, "%s: gradient off by %.3g of %.3g", c->name, worst, largest);
}

static float *floats(const double *values, size_t n) {
    float *out;
    if (!values) return NULL;
    out = malloc(n * sizeof *out);
    if (!out) abort();
    for (size_t i = 0; i < n; i++) out[i] = (float)values[i];
    return out;
}

static void check_events(const golden_case *c, const mode_events *in_double, const mode_events *in_float) {
    const mode_options options = c->options();
    mode_result found = {0};
    double *grad = calloc(c->n, sizeof *grad);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();
    status = mode_evaluate_f64(&options, in_double, &found, grad, NULL);
    compare(c, status, found.loss, grad, double_tolerance);
    status = mode_evaluate_f64(&options, in_double, &found, NULL, NULL);
    compare(c, status, found.loss, NULL, double_tolerance);

    status = mode_evaluate_f32(&options, in_float, &found, single, NULL);
    for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
    compare(c, status, found.loss, grad, float_tolerance);
    status = mode_evaluate_f32(&options, in_float, &found, NULL, NULL);
    compare(c, status, found.loss, NULL, float_tolerance);
    free(grad);
    free(single);
}

static void check_case(const golden_case *c) {
    float *score = floats(c->score, c->n), *weight = floats(c->weight, c->n), *mass[3] = {NULL, NULL, NULL};
    const void *in_double[3], *in_float[3];
    mode_events doubles, singles;
    for (size_t k = 0; k < c->n_mass; k++) {
        in_double[k] = c->mass[k];
        in_float[k] = mass[k] = floats(c->mass[k], c->n);
    }
    for (int alone = !c->options().unbiased; alone < 2; alone++) { /* the bias needs bins of several events, as unbiased does */
        doubles = events_of(c, c->score, in_double, c->weight);
        singles = events_of(c, score, in_float, weight);
        doubles.loss_alone = singles.loss_alone = alone;
        check_events(c, &doubles, &singles);
    }
    for (size_t k = 0; k < c->n_mass; k++) free(mass[k]);
    free(score);
    free(weight);
}

int main(void) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_case(&cases[k]);
    return finish();
}
