/*
 * The golden cases through the four functions of the loss, in both precisions.
 * Usage: test_golden FILE, where golden_to_text.py has written FILE.
 */
#include <math.h>

#include "check.h"

/* Relative to the largest element. */
static const double double_tolerance = 1e-9, float_tolerance = 1e-5;

typedef struct {
    char name[128];
    mode_options options;
    double edges[64];
    size_t n;
    double loss;
    double *score, *mass, *weight, *grad; /* weight: NULL if there are none */
} golden_case;

static void expect_read(int got, int want) {
    if (got != want) {
        fprintf(stderr, "test_golden: the file of cases is not as golden_to_text.py writes it\n");
        exit(EXIT_FAILURE);
    }
}

static void read_doubles(FILE *file, double *values, size_t n) {
    for (size_t i = 0; i < n; i++) expect_read(fscanf(file, "%lf", &values[i]), 1);
}

static double *new_doubles(FILE *file, size_t n) {
    double *values = malloc(n * sizeof *values);
    if (!values) abort();
    read_doubles(file, values, n);
    return values;
}

static void read_case(FILE *file, golden_case *c) {
    mode_options *o = &c->options;
    size_t n_edges;
    int weights;
    mode_options_init(o, sizeof *o);
    expect_read(fscanf(file, " %127[^\n]", c->name), 1);
    expect_read(fscanf(file, "%d %d %d %d %d %d %d %d", &o->order, &o->bins, &o->binning, &o->moments,
                       &o->slope_of, &o->reduction, &o->monotonic, &o->unbiased), 8);
    read_doubles(file, &o->max_slope, 1);
    read_doubles(file, &o->slope_penalty, 1);
    read_doubles(file, o->mass_range, 2);
    read_doubles(file, o->score_range, 2);
    expect_read(fscanf(file, "%zu", &n_edges), 1);
    expect_read(n_edges <= sizeof c->edges / sizeof *c->edges, 1);
    read_doubles(file, c->edges, n_edges);
    if (n_edges) {
        o->edges = c->edges;
        o->n_edges = n_edges;
    }
    expect_read(fscanf(file, "%zu %d", &c->n, &weights), 2);
    read_doubles(file, &c->loss, 1);
    c->score = new_doubles(file, c->n);
    c->mass = new_doubles(file, c->n);
    c->weight = weights ? new_doubles(file, c->n) : NULL;
    c->grad = new_doubles(file, c->n);
}

static void free_case(golden_case *c) {
    free(c->score);
    free(c->mass);
    free(c->weight);
    free(c->grad);
}

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
    double loss = 0, *grad = calloc(c->n, sizeof *grad);
    float *score = floats(c->score, c->n), *mass = floats(c->mass, c->n), *weight = floats(c->weight, c->n);
    float *single = calloc(c->n, sizeof *single);
    int status;
    if (!grad || !single) abort();

    status = mode_loss_grad_f64(&c->options, c->n, c->score, c->mass, c->weight, NULL, &loss, grad);
    compare(c, status, loss, grad, double_tolerance);
    status = mode_loss_f64(&c->options, c->n, c->score, c->mass, c->weight, NULL, &loss);
    compare(c, status, loss, NULL, double_tolerance);

    status = mode_loss_grad_f32(&c->options, c->n, score, mass, weight, NULL, &loss, single);
    for (size_t i = 0; i < c->n; i++) grad[i] = single[i];
    compare(c, status, loss, grad, float_tolerance);
    status = mode_loss_f32(&c->options, c->n, score, mass, weight, NULL, &loss);
    compare(c, status, loss, NULL, float_tolerance);

    free(grad);
    free(single);
    free(score);
    free(mass);
    free(weight);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    int cases;
    if (!file) {
        fprintf(stderr, "usage: test_golden FILE\n");
        return EXIT_FAILURE;
    }
    expect_read(fscanf(file, "%d", &cases), 1);
    for (int k = 0; k < cases; k++) {
        golden_case c;
        read_case(file, &c);
        check_case(&c);
        free_case(&c);
    }
    fclose(file);
    return finish();
}
