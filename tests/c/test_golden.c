/*
 * The golden cases through mode_loss, in both precisions. write_cases.py writes golden.h.
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

static void check_case(const golden_case *c) {
    mode_handle *const m = mode_new(c->options);
    const int biased = strstr(c->options, "unbiased=false") != NULL;
    const mode_events doubles = events_of(c);
    float *score = floats(c->score, c->n), *weight = floats(c->weight, c->n), *mass = floats(c->mass, c->n * (size_t)c->n_mass);
    mode_events singles = doubles;
    mode_result found;
    double *grad = calloc(c->n, sizeof *grad);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();
    CHECK(m, "%s: %s", c->options, mode_last_error());
    memset(&found, 0, sizeof found);
    found.size = sizeof found;
    singles.dtype = MODE_FLOAT32, singles.score = score, singles.mass = mass, singles.weight = weight;

    for (int with = 0; with <= !biased; with++) { /* the bias needs bins of several events, as unbiased does */
        found.quality = with;
        status = mode_loss(m, &doubles, &found, grad);
        compare(c, status, found.loss, grad, double_tolerance);
        status = mode_loss(m, &doubles, &found, NULL);
        compare(c, status, found.loss, NULL, double_tolerance);
        status = mode_loss(m, &singles, &found, single);
        for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
        compare(c, status, found.loss, grad, float_tolerance);
    }
    mode_free(m);
    free(score);
    free(mass);
    free(weight);
    free(grad);
    free(single);
}

int main(void) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_case(&cases[k]);
    return finish();
}
