/*
 * The golden cases through mode_evaluate and mode_loss, in both precisions. write_cases.py writes golden.h.
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
    const mode_options options = c->options();
    const mode_events_f64 doubles = events_of(c);
    float *score = floats(c->score, c->n), *weight = floats(c->weight, c->n), *mass[3] = {NULL, NULL, NULL};
    const float *masses[3];
    mode_events_f32 singles;
    mode_result_f64 found;
    mode_result_f32 of_singles;
    double *grad = calloc(c->n, sizeof *grad), loss = 0;
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();
    for (size_t k = 0; k < c->n_mass; k++) masses[k] = mass[k] = floats(c->mass[k], c->n);
    memset(&singles, 0, sizeof singles);
    memset(&found, 0, sizeof found);
    memset(&of_singles, 0, sizeof of_singles);
    singles.struct_size = sizeof singles, found.struct_size = sizeof found, of_singles.struct_size = sizeof of_singles;
    of_singles.grad = single;
    singles.n = c->n, singles.n_mass = c->n_mass, singles.score = score, singles.mass = masses, singles.weight = weight;
    singles.label = c->label, singles.category = c->category, singles.category_type = MODE_LABEL_INT64;

    for (int with = 0; with <= options.unbiased; with++) { /* the bias needs bins of several events, as unbiased does */
        found.quality = of_singles.quality = with;
        found.grad = grad;
        status = mode_evaluate_f64(&options, &doubles, &found);
        compare(c, status, found.loss, grad, double_tolerance);
        found.grad = NULL;
        status = mode_evaluate_f64(&options, &doubles, &found);
        compare(c, status, found.loss, NULL, double_tolerance);
        status = mode_evaluate_f32(&options, &singles, &of_singles);
        for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
        compare(c, status, of_singles.loss, grad, float_tolerance);
    }
    if (c->n_mass == 1 && !c->category) {
        status = mode_loss_f64(&options, c->n, c->score, c->label, c->mass[0], c->weight, &loss, grad);
        compare(c, status, loss, grad, double_tolerance);
        status = mode_loss_f32(&options, c->n, score, c->label, mass[0], weight, &loss, NULL);
        compare(c, status, loss, NULL, float_tolerance);
    }
    for (size_t k = 0; k < c->n_mass; k++) free(mass[k]);
    free(score);
    free(weight);
    free(grad);
    free(single);
}

int main(void) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_case(&cases[k]);
    return finish();
}
