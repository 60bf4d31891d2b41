/*
 * The golden cases through the functions of the loss, in both precisions.
 * Usage: test_golden FILE, where golden_to_text.py has written FILE.
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

/* Through the general functions, which take every case. */
static void check_events(const golden_case *c, const mode_events *in_double, const mode_events *in_float) {
    double loss = 0, *grad = calloc(c->n, sizeof *grad);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();
    status = mode_events_loss_f64(&c->options, in_double, &loss, grad);
    compare(c, status, loss, grad, double_tolerance);
    status = mode_events_loss_f64(&c->options, in_double, &loss, NULL);
    compare(c, status, loss, NULL, double_tolerance);

    status = mode_events_loss_f32(&c->options, in_float, &loss, single);
    for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
    compare(c, status, loss, grad, float_tolerance);
    status = mode_events_loss_f32(&c->options, in_float, &loss, NULL);
    compare(c, status, loss, NULL, float_tolerance);
    free(grad);
    free(single);
}

/* Through the functions of one variable without categories. */
static void check_arrays(const golden_case *c, const float *score, const float *mass, const float *weight) {
    double loss = 0, *grad = calloc(c->n, sizeof *grad);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();
    status = mode_loss_grad_f64(&c->options, c->n, c->score, c->mass[0], c->weight, c->label, MODE_LABEL_INT32, &loss, grad);
    compare(c, status, loss, grad, double_tolerance);
    status = mode_loss_f64(&c->options, c->n, c->score, c->mass[0], c->weight, c->label, MODE_LABEL_INT32, &loss);
    compare(c, status, loss, NULL, double_tolerance);

    status = mode_loss_grad_f32(&c->options, c->n, score, mass, weight, c->label, MODE_LABEL_INT32, &loss, single);
    for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
    compare(c, status, loss, grad, float_tolerance);
    status = mode_loss_f32(&c->options, c->n, score, mass, weight, c->label, MODE_LABEL_INT32, &loss);
    compare(c, status, loss, NULL, float_tolerance);
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
    doubles = events_of(c, c->score, in_double, c->weight);
    singles = events_of(c, score, in_float, weight);
    check_events(c, &doubles, &singles);
    if (c->n_mass == 1 && !c->category) check_arrays(c, score, mass[0], weight);
    for (size_t k = 0; k < c->n_mass; k++) free(mass[k]);
    free(score);
    free(weight);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    golden_case c;
    if (!file) {
        fprintf(stderr, "usage: test_golden FILE\n");
        return EXIT_FAILURE;
    }
    while (read_case(file, &c)) {
        check_case(&c);
        free_case(&c);
    }
    fclose(file);
    return finish();
}
