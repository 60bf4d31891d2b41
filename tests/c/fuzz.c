/*
 * Whatever the functions of mode.h are given: no crash, nothing read or written beyond an array, a status that
 * fits the arguments, a message that names one of them, nothing written after an error, and the same result from each
 * function that computes it.
 *
 * usage: fuzz EXECUTIONS [FIRST [trace]]
 *
 * An execution is one set of arguments, drawn from its number alone, for all functions of the loss: what failed is
 * repeated by "fuzz 1 NUMBER", and "trace" prints each number before it is run, for those that end the process.
 * Each array ends where memory that may be touched ends.
 */
#define _DEFAULT_SOURCE /* mmap */
#include <float.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

/* --------------------------------------------------------------- numbers at random */

static unsigned long long execution;
static uint64_t state;

static void seed(uint64_t number) { /* splitmix64: neighbors have nothing in common */
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    state = (number ^ number >> 31) | 1;
}

static uint64_t bits(void) { /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

static int below(int n) { return (int)((bits() >> 33) % (uint64_t)n); }
static int one_in(int n) { return below(n) == 0; }

/* A number at which something changes, or any bits. */
static double wild(void) {
    static const double some[] = {0,       -0.0,      1,        -1,        0.5,  2,    1e-12,   1e-300, -1e-300, DBL_MIN / 8, FLT_MIN / 8, 1e12,
                                  FLT_MAX, 3.5e38,    1e300,    -1e300,    DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, NAN, 100,  4294967296.0};
    double any;
    uint64_t word = bits();
    if (!one_in(4)) return some[below(sizeof some / sizeof *some)];
    memcpy(&any, &word, sizeof any);
    return any;
}

/* Numbers from 0 to 1 that a float holds; with few steps many are equal. */
static double tame(int steps) { return (double)(float)((below(steps) + 0.5) / steps); }

static int32_t wild_integer(void) {
    static const int32_t some[] = {0, 1, 2, 3, 4, 5, 16, 17, -1, -2, 7, 100, INT32_MAX, INT32_MIN};
    return one_in(8) ? (int32_t)(bits() >> 32) : some[below(sizeof some / sizeof *some)];
}

/* A size that no call can take. */
static size_t wild_size(void) {
    static const size_t some[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 32, (size_t)0 - 8, (size_t)1 << 60, (size_t)1 << 61};
    return one_in(8) ? (size_t)(bits() | (uint64_t)1 << 32) : some[below(sizeof some / sizeof *some)];
}

/* ------------------------------------------------------------------------- failures */

#define REQUIRE(condition, ...)                                                     \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "execution %llu: ", execution);                         \
            fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                      \
        }                                                                           \
    } while (0)

static unsigned long long calls, by_status[MODE_ERROR_UNDEFINED + 1];
static char message[1024]; /* of the last error so far */

/* Looks at the status and the message of each call. */
static int look(int status) {
    static const char *const names[] = {"score", "mass", "weight", "label", "categor", "options", "variable", "events", "loss",
                                        "result", "order", "bins", "binning", "moments", "slope", "reduction", "monotonic", "unbiased",
                                        "joint", "missing", "basis", "degree", "edges", "knots", "smoothing", "hess", "capacity", "at[", "option",
                                        "threads", "k = "};
    const char *now = mode_last_error();
    int named = 0;
    calls++;
    REQUIRE(status >= 0 && status <= MODE_ERROR_UNDEFINED && status != MODE_ERROR_FORKED && status != MODE_ERROR_INTERNAL,
            "status %d: %s", status, now);
    if (status >= 0 && status <= MODE_ERROR_UNDEFINED) by_status[status]++;
    if (!status) {
        REQUIRE(!strcmp(message, now), "a call that succeeds leaves the message: %s", now);
        return status;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names && !named; k++) named = strstr(now, names[k]) != NULL;
    REQUIRE(named || status == MODE_ERROR_INTERNAL, "no argument is named: %s", now);
    REQUIRE(strlen(now) < sizeof message && !strpbrk(now, "\n\r\t") && !strstr(now, "%!"), "%s", now);
    snprintf(message, sizeof message, "%s", now);
    return status;
}

/* --------------------------------------------------------------------------- arrays */

enum { ROOM = 4096, MAX_MASS = 3, MANY = 8 };

/* What lies between inputs and outputs; each ends at a page that must not be touched. */
enum { SCORE, MASS, WEIGHT = MASS + MAX_MASS, LABEL, CATEGORY, EDGES, KNOTS, LABELS, VARIABLES, AT, INPUTS,
       GRAD = INPUTS, HESS, FOUND_EDGES, CDF, MOMENTS, BOUNDED, ARRAYS };

static char *ends[ARRAYS];
static char *kept[INPUTS]; /* copies of the inputs */
static size_t used[INPUTS];

static void make_arrays(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int k = 0; k < ARRAYS; k++) {
        char *start = mmap(NULL, ROOM * sizeof(double) + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED || mprotect(start + ROOM * sizeof(double), page, PROT_NONE)) abort();
        ends[k] = start + ROOM * sizeof(double);
        if (k < INPUTS && !(kept[k] = malloc(ROOM * sizeof(double)))) abort();
    }
}

static void *input(int array, size_t n, size_t size) {
    used[array] = n * size;
    return ends[array] - n * size;
}

static void keep_inputs(void) {
    for (int k = 0; k < INPUTS; k++) memcpy(kept[k], ends[k] - used[k], used[k]);
}

static void check_inputs(void) {
    for (int k = 0; k < INPUTS; k++) REQUIRE(!memcmp(kept[k], ends[k] - used[k], used[k]), "input %d was written", k);
}

enum { BEFORE = 64, UNTOUCHED = 0x5a }; /* bytes before an output, and what outputs are full of before a call */

static void *output(int array, size_t n, size_t size) {
    memset(ends[array] - n * size - BEFORE, UNTOUCHED, n * size + BEFORE);
    return ends[array] - n * size;
}

/* Whether an output, or what lies before it, is as it was. */
static int untouched(const void *from, size_t bytes) {
    const unsigned char *byte = from;
    for (size_t k = 0; k < bytes; k++)
        if (byte[k] != UNTOUCHED) return 0;
    return 1;
}

static void check_before(const void *out) { REQUIRE(untouched((const char *)out - BEFORE, BEFORE), "written before an output"); }

/* --------------------------------------------- the functions, for events of either type */

typedef struct {
    const char *name;
    size_t size;
    int (*evaluate)(const mode_options *, const mode_events *, mode_result *, void *, void *);
    int (*edges)(const mode_options *, const mode_events *, size_t, double *, size_t *);
    int (*moments)(const mode_options *, const mode_events *, size_t, const double *, size_t, double *, double *, double *);
    double (*value)(const void *, size_t);
    void (*set)(void *, size_t, double);
} functions;

#define OF_TYPE(real, suffix)                                                                                             \
    static int evaluate_##suffix(const mode_options *o, const mode_events *e, mode_result *result, void *grad,            \
                                 void *hess) {                                                                            \
        return mode_evaluate_##suffix(o, e, result, grad, hess);                                                          \
    }                                                                                                                     \
    static double value_##suffix(const void *array, size_t i) { return (double)((const real *)array)[i]; }                \
    static void set_##suffix(void *array, size_t i, double value) { ((real *)array)[i] = (real)value; }                   \
    static const functions of_##suffix = {#suffix, sizeof(real), evaluate_##suffix, mode_edges_##suffix,                  \
                                          mode_moments_##suffix, value_##suffix, set_##suffix};

OF_TYPE(float, f32)
OF_TYPE(double, f64)

/* ------------------------------------------------------------------ arguments at random */

static mode_options options;
static mode_events events;
static const double *at;
static size_t n_at;
static const void *masses[MAX_MASS];

/* Values of one array: good ones from lo to hi, some of them or all spoilt now and then. */
static void draw_values(const functions *f, int array, double lo, double hi, int steps, int spoil) {
    void *to = input(array, events.n, f->size);
    for (size_t i = 0; i < events.n; i++) {
        double v = lo + (hi - lo) * tame(steps);
        if (spoil && one_in(spoil)) v = wild();
        if (f->size == sizeof(float) && fabs(v) > (double)FLT_MAX) v = copysign(INFINITY, v);
        f->set(to, i, v);
    }
}

/* Labels or categories of a type; room for n of 8 bytes. */
static const void *draw_labels(int array, int32_t type) {
    static const size_t sizes[] = {4, 1, 1, 8, 4, 8};
    char *to = input(array, events.n, type >= 0 && type < 6 ? sizes[type] : 8);
    const int kinds = 1 + below(4), any = one_in(16);
    memset(to, 0, used[array]);
    for (size_t i = 0; i < events.n; i++) {
        const int label = below(kinds);
        const int32_t label32 = label;
        const int64_t label64 = label;
        const float single = (float)label;
        const double number = any && one_in(8) ? wild() : label;
        if (type == MODE_LABEL_INT32) memcpy(to + 4 * i, &label32, 4);
        else if (type == MODE_LABEL_INT64) memcpy(to + 8 * i, &label64, 8);
        else if (type == MODE_LABEL_FLOAT32) memcpy(to + 4 * i, &single, 4);
        else if (type == MODE_LABEL_FLOAT64) memcpy(to + 8 * i, &number, 8);
        else if (type == MODE_LABEL_INT8 || type == MODE_LABEL_UINT8) to[i] = (char)label;
    }
    return to;
}

/* Increasing numbers, most often, in an array of their own. */
static const double *draw_numbers(int array, size_t n, double lo, double hi) {
    double *to = input(array, n, sizeof(double));
    for (size_t k = 0; k < n; k++) to[k] = one_in(24) ? wild() : lo + (hi - lo) * (double)(k + 1) / (double)(n + 1);
    return to;
}

static void draw_list(const double **list, size_t *n, int array, double lo, double hi) {
    *n = (size_t)below(MANY);
    *list = draw_numbers(array, *n, lo, hi);
    if (one_in(16)) *list = NULL;
    if (one_in(32)) *n = wild_size();
}

static void draw_variables(void) {
    const size_t n = (size_t)below(MAX_MASS + 1);
    mode_variable *v = input(VARIABLES, n, sizeof *v);
    for (size_t k = 0; k < n; k++) {
        look(mode_variable_init(&v[k], sizeof *v));
        if (one_in(2)) v[k].bins = one_in(4) ? wild_integer() : below(6);
        if (one_in(8)) v[k].mass_range[0] = one_in(2) ? 50 : wild();
        if (one_in(8)) v[k].mass_range[1] = one_in(2) ? 150 : wild();
        if (one_in(8)) draw_list(&v[k].edges, &v[k].n_edges, EDGES, 40, 160); /* the last of them has the array */
        if (one_in(16)) draw_list(&v[k].knots, &v[k].n_knots, KNOTS, 60, 140);
        if (one_in(32)) v[k].struct_size = one_in(2) ? wild_size() : (size_t)below(200);
    }
    options.variables = one_in(16) ? NULL : v;
    options.n_variables = one_in(32) ? wild_size() : n;
    /* Lists of an earlier variable would stand in memory that a later one has taken. */
    for (size_t k = 0; k + 1 < n; k++) v[k].edges = v[k].knots = NULL, v[k].n_edges = v[k].n_knots = 0;
}

/* Changes one option, of any kind, by what the library says of it. */
static void draw_option(void) {
    mode_option row;
    char *to;
    if (look(mode_option_at((size_t)below((int)mode_option_count()), &row))) return;
    to = (char *)&options + row.offset;
    if (row.kind == MODE_KIND_INTEGER || row.kind == MODE_KIND_FLAG || row.kind == MODE_KIND_CHOICE) {
        const int32_t value = one_in(4)                        ? wild_integer()
                              : row.kind == MODE_KIND_CHOICE   ? below((int)row.n_values)
                              : row.kind == MODE_KIND_FLAG     ? below(3) - 1
                                                               : below(6);
        memcpy(to, &value, sizeof value);
    } else if (row.kind == MODE_KIND_NUMBER) {
        const double value = one_in(4) ? wild() : tame(256) * 2;
        memcpy(to, &value, sizeof value);
    } else if (row.kind == MODE_KIND_RANGE) {
        const int mass = !strcmp(row.name, "mass_range"), open = one_in(2);
        const double inside = mass ? 60 : -1, above = mass ? 140 : 2;
        double value[2] = {open ? -INFINITY : inside, open ? INFINITY : above};
        if (one_in(6)) value[below(2)] = wild();
        memcpy(to, value, sizeof value);
    } else if (!strcmp(row.name, "edges")) {
        draw_list(&options.edges, &options.n_edges, EDGES, 40, 160);
        if (!one_in(8)) options.binning = MODE_BINNING_EDGES;
    } else if (!strcmp(row.name, "knots")) {
        draw_list(&options.knots, &options.n_knots, KNOTS, 60, 140);
        if (!one_in(8)) options.basis = MODE_BASIS_BSPLINE;
    } else if (row.kind == MODE_KIND_LABELS) {
        const size_t n = (size_t)below(4);
        int32_t *labels = input(LABELS, n, sizeof *labels);
        for (size_t k = 0; k < n; k++) labels[k] = one_in(8) ? wild_integer() : (int32_t)k;
        options.background_label = one_in(16) ? NULL : labels;
        options.n_background_label = one_in(32) ? wild_size() : n;
    } else if (row.kind == MODE_KIND_VARIABLES) {
        draw_variables();
    } else {
        REQUIRE(0, "%s has a kind that is not known here: %d", row.name, row.kind);
    }
}

/* Any bytes in all members but those that are pointers or sizes, which would have to be true. */
static void draw_bytes(void) {
    unsigned char *byte = (unsigned char *)&options;
    for (size_t k = offsetof(mode_options, loss); k < offsetof(mode_options, edges); k++)
        if (!one_in(3)) byte[k] = one_in(2) ? (unsigned char)bits() : 0;
}

static void draw(const functions *f) {
    static const size_t sizes[] = {0, 1, 2, 3, 5, 8, 9, 16, 17, 33, 60, 64, 100};
    const int spoil = one_in(4) ? 4 << below(6) : 0, steps = 2 << below(9);
    memset(used, 0, sizeof used);
    look(mode_options_init(&options, sizeof options));
    if (one_in(2)) options.bins = 1 + below(8);
    if (one_in(2)) options.order = below(4);
    if (one_in(4)) options.score_range[0] = -INFINITY, options.score_range[1] = INFINITY;
    for (int k = below(5); k > 0; k--) draw_option();
    if (one_in(32)) draw_bytes();
    if (one_in(64)) options.struct_size = one_in(2) ? wild_size() : (size_t)below(1000);

    look(mode_events_init(&events, sizeof events));
    events.n = one_in(200) ? (size_t)below(ROOM - BEFORE) : sizes[below(sizeof sizes / sizeof *sizes)];
    events.n_mass = one_in(4) ? (size_t)(1 + below(MAX_MASS)) : 1;
    draw_values(f, SCORE, 0, 1, steps, spoil);
    events.score = ends[SCORE] - used[SCORE];
    for (int k = 0; k < MAX_MASS; k++) {
        draw_values(f, MASS + k, 50, 150, one_in(3) ? steps : 1 << 20, spoil);
        masses[k] = ends[MASS + k] - used[MASS + k];
    }
    events.mass = masses;
    if (one_in(2)) {
        draw_values(f, WEIGHT, one_in(3) ? -0.25 : 0, 2, steps, spoil);
        events.weight = ends[WEIGHT] - used[WEIGHT];
    }
    if (one_in(2)) {
        events.label_type = one_in(16) ? wild_integer() : below(6);
        events.label = draw_labels(LABEL, events.label_type);
    }
    if (one_in(6)) {
        events.category_type = one_in(8) ? wild_integer() : below(4);
        events.category = draw_labels(CATEGORY, events.category_type);
    }
    n_at = (size_t)below(5);
    at = draw_numbers(AT, n_at, 0, 1);
    if (one_in(32)) masses[below(MAX_MASS)] = NULL;
    if (one_in(64)) events.mass = NULL;
    if (one_in(64)) events.score = NULL;
    if (one_in(64)) events.n_mass = one_in(2) ? wild_size() : (size_t)below(6);
    if (one_in(64)) events.n = wild_size();
    if (one_in(64)) events.struct_size = one_in(2) ? wild_size() : (size_t)below(200);
}

/* ------------------------------------------------- what header and arguments say of a status */

static int bad_list(const void *list, size_t n) { return n > UINT32_MAX || (!list && n); }

static int bad_options(const mode_options *o) {
    if (!o) return 0;
    if (o->struct_size != sizeof *o || bad_list(o->edges, o->n_edges) || bad_list(o->knots, o->n_knots) ||
        bad_list(o->background_label, o->n_background_label) || bad_list(o->variables, o->n_variables) || o->n_variables > MAX_MASS)
        return 1;
    for (size_t k = 0; k < o->n_variables; k++) {
        const mode_variable *v = &o->variables[k];
        if (v->struct_size != sizeof *v || bad_list(v->edges, v->n_edges) || bad_list(v->knots, v->n_knots)) return 1;
    }
    return 0;
}

static int bad_labels(const void *labels, int32_t type, int32_t types) { return labels && (type < 0 || type >= types); }

/* `scores` is whether they are looked at. */
static int bad_events(const mode_events *e, int scores) {
    if (!e || e->struct_size != sizeof *e || !e->mass || e->n_mass < 1 || e->n_mass > MAX_MASS || e->n > UINT32_MAX) return 1;
    if ((scores && e->n && !e->score) || bad_labels(e->label, e->label_type, MODE_LABEL_FLOAT64 + 1)) return 1;
    for (size_t k = 0; k < e->n_mass; k++)
        if (!e->mass[k] && e->n) return 1;
    return bad_labels(e->category, e->category_type, MODE_LABEL_INT64 + 1);
}

/* ------------------------------------------------------------------------------ the checks */

static int same(double a, double b) { return !memcmp(&a, &b, sizeof a); }

static void check_status(const char *what, const functions *f, int status, int bad) {
    REQUIRE((status == MODE_ERROR_ARGUMENT) == bad, "%s_%s: status %d: %s", what, f->name, status, mode_last_error());
}

/* Of an array of derivatives that a call has set. */
static void check_finite(const functions *f, const void *array, const char *what) {
    size_t i = 0;
    while (i < events.n && isfinite(f->value(array, i))) i++;
    REQUIRE(i == events.n, "%s[%zu] = %g", what, i, f->value(array, i));
    check_before(array);
}

static int ties(const functions *f) {
    static double sorted[ROOM];
    size_t n = events.n;
    for (size_t i = 0; i < n; i++) sorted[i] = f->value(events.score, i);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && sorted[k] <= sorted[k - 1]; k--) {
            const double score = sorted[k];
            if (score == sorted[k - 1]) return 1;
            sorted[k] = sorted[k - 1], sorted[k - 1] = score;
        }
    return 0;
}

/*
 * The scores and the range of the integral scaled by the same factor scale the loss, or leave DisCo as it is; and a
 * shift of all scores changes nothing. So with the range from the data sum_i s_i dL/ds_i is the loss, or 0 for DisCo,
 * and sum_i dL/ds_i is 0. Where scores are equal this holds of a J that is quadratic, and 0 above them.
 */
static void check_scaling(const functions *f, const mode_options *o, double loss, const void *grad) {
    double scaled = 0, shifted = 0, size = MANY * MANY, largest = 0; /* of numbers near 1, which may cancel */
    const double eps = f->size == sizeof(float) ? 1e-6 : 1e-12;
    int bounded;
    if (!o || events.n > 300 || events.weight || o->slope_penalty > (double)MANY) return;
    if (o->loss != MODE_LOSS_DISCO && isfinite(o->score_range[0])) return;
    bounded = isfinite(o->max_slope) || (o->monotonic != 0 && o->monotonic != MODE_DEFAULT);
    if ((bounded || o->moments == MODE_MOMENTS_QUADRATURE) && ties(f)) return;
    for (size_t i = 0; i < events.n; i++) {
        const double g = f->value(grad, i), s = f->value(events.score, i);
        if (!(fabs(s) <= (double)MANY)) return;
        scaled += s * g, shifted += g, size += fabs(g), largest = fmax(largest, fabs(s));
    }
    if (size > 1e6) return; /* moments that the bins hardly determine, whose rounding counts for as much */
    REQUIRE(fabs(shifted) <= eps * size, "%s: the sum of the gradient is %g of %g", f->name, shifted, size);
    if (o->loss == MODE_LOSS_DISCO) loss = 0;
    REQUIRE(fabs(scaled - loss) <= eps * size * largest, "%s: loss %.17g, and %.17g by its gradient", f->name, loss, scaled);
}

/* Events of other labels than those of the background have gradient 0. */
static void check_others(const functions *f, const mode_options *o, const void *grad) {
    if (!events.label || events.label_type != MODE_LABEL_INT32) return;
    for (size_t i = 0; i < events.n; i++) {
        const int32_t label = ((const int32_t *)events.label)[i];
        int background = (!o || !o->background_label) && label == 0;
        for (size_t k = 0; o && o->background_label && k < o->n_background_label; k++) background |= label == o->background_label[k];
        REQUIRE(background || f->value(grad, i) == 0, "event %zu of label %d has gradient %g", i, label, f->value(grad, i));
    }
}

/* One evaluation into a result full of UNTOUCHED, which stays so after an error. */
static int evaluate(const functions *f, const mode_options *o, const mode_events *e, mode_result *result, void *grad, void *hess) {
    int status;
    memset(result, UNTOUCHED, sizeof *result);
    status = look(f->evaluate(o, e, result, grad, hess));
    REQUIRE(status ? untouched(result, sizeof *result) : isfinite(result->loss), "loss %g, status %d", result->loss, status);
    return status;
}

/* The loss alone, with a gradient, with its bias, and with hess: the same. */
static void check_losses(const functions *f, const mode_options *o, mode_events *e) {
    void *grad = output(GRAD, events.n <= ROOM - BEFORE ? events.n : 0, f->size), *hess = output(HESS, events.n <= ROOM - BEFORE ? events.n : 0, f->size);
    mode_result result, again;
    char said[sizeof message];
    const int bad = bad_options(o) || bad_events(e, 1), no_bias = o && o->loss != MODE_LOSS_MODE;
    int status, other;
    if (e) e->loss_alone = 1;
    status = evaluate(f, o, e, &result, NULL, NULL);
    check_status("the loss", f, status, bad);
    snprintf(said, sizeof said, "%s", status ? message : "");

    other = evaluate(f, o, e, &again, grad, NULL);
    REQUIRE(other == status || (other == MODE_ERROR_OVERFLOW && !status), "with a gradient status %d, not %d: %s", other, status, message);
    REQUIRE(other || same(result.loss, again.loss), "with a gradient %g, not %g", again.loss, result.loss);
    REQUIRE(!status || !strcmp(said, message), "with a gradient \"%s\", not \"%s\"", message, said);
    if (!other) {
        check_finite(f, grad, "grad");
        check_others(f, o, grad);
        check_scaling(f, o, result.loss, grad);
    }
    REQUIRE(look(f->evaluate(o, e, NULL, grad, NULL)) == MODE_ERROR_ARGUMENT, "there is nowhere to put the result");

    if (e) e->loss_alone = 0;
    other = evaluate(f, o, e, &again, one_in(2) ? grad : NULL, NULL);
    REQUIRE((other == MODE_ERROR_ARGUMENT) == bad, "with the bias: status %d: %s", other, message);
    REQUIRE(other || !status, "a bias of what the loss refuses: %s", said);
    if (!other) {
        REQUIRE(no_bias ? isnan(again.bias) && isnan(again.events) : isfinite(again.bias) && isfinite(again.events), "%g %g", again.bias, again.events);
        REQUIRE(fabs(result.loss - again.loss) <= 1e-9 * (1 + fabs(result.loss) + (no_bias ? 0 : fabs(again.bias))), "with the bias %g, not %g", again.loss, result.loss);
    }

    if (e && one_in(4)) e->smoothing = wild();
    other = evaluate(f, o, e, &again, one_in(4) ? NULL : grad, hess);
    REQUIRE((other == MODE_ERROR_ARGUMENT) == bad, "hess: status %d: %s", other, message);
    REQUIRE(other || !status, "hess gives what the loss refuses: %s", said);
    if (!other) {
        check_finite(f, hess, "hess");
        for (size_t i = 0; i < events.n; i++) REQUIRE(f->value(hess, i) >= 0, "hess[%zu] = %g", i, f->value(hess, i));
    }
    check_before(grad);
}

/* The edges and the moments, which are those of a loss of one variable. */
static void check_inside(const functions *f, const mode_options *o) {
    const size_t capacity = one_in(4) ? (size_t)below(8) : (size_t)(ROOM - BEFORE);
    double *const edges = output(FOUND_EDGES, capacity, sizeof *edges), *const given = one_in(8) ? NULL : edges;
    const int bad = bad_options(o) || bad_events(&events, 0);
    double *cdf, *moments, *bounded;
    size_t n, bins, size;
    int status;
    memset(&n, UNTOUCHED, sizeof n);
    status = look(f->edges(o, &events, capacity, given, &n));
    check_before(edges);
    if (status) {
        const int few = !untouched(&n, sizeof n); /* of the capacity */
        REQUIRE((status == MODE_ERROR_ARGUMENT) == (bad || few), "edges: status %d: %s", status, message);
        REQUIRE(!few || n > capacity, "edges: %zu of %zu: %s", n, capacity, message);
        REQUIRE(untouched(edges, capacity * sizeof *edges), "edges were written");
        return;
    }
    REQUIRE(!bad && n >= 2, "edges: %zu", n);
    for (size_t k = 1; given && k < n; k++)
        REQUIRE(edges[k] > edges[k - 1] && isfinite(edges[k]), "edges[%zu] = %g", k, edges[k]);
    REQUIRE(look(f->edges(o, &events, capacity, edges, NULL)) == MODE_ERROR_ARGUMENT, "there is nowhere to put the number");

    bins = one_in(16) ? (size_t)below(9) : n - 1;
    size = (size_t)(o ? o->order : 0) + 1;
    if (n_at * bins > ROOM - BEFORE) return;
    cdf = output(CDF, n_at * bins, sizeof *cdf);
    moments = output(MOMENTS, n_at * (MANY + 32), sizeof *moments);
    bounded = output(BOUNDED, n_at * (MANY + 32), sizeof *bounded);
    status = look(f->moments(o, &events, n_at, at, bins, one_in(8) ? NULL : cdf, one_in(8) ? NULL : moments, one_in(8) ? NULL : bounded));
    REQUIRE(!status || (untouched(cdf, n_at * bins * sizeof *cdf) && untouched(moments, n_at * (MANY + 32) * sizeof *moments)),
            "moments were written: %s", message);
    REQUIRE(status || bins == n - 1, "moments of %zu bins, there are %zu", bins, n - 1);
    for (size_t k = 0; !status && k < n_at * bins && !untouched(cdf, sizeof *cdf); k++) REQUIRE(isfinite(cdf[k]), "cdf[%zu] = %g", k, cdf[k]);
    for (size_t k = 0; !status && k < n_at * size && !untouched(moments, sizeof *moments); k++)
        REQUIRE(isfinite(moments[k]), "moments[%zu] = %g", k, moments[k]);
    check_before(cdf);
    check_before(moments);
    check_before(bounded);
}

/* The functions that begin structs, and those of the library. */
static void check_structs(void) {
    union { mode_options o; mode_events e; mode_variable v; mode_option row; } any;
    const size_t size = one_in(2) ? wild_size() : (size_t)below(400), k = one_in(2) ? wild_size() : (size_t)below(30);
    const int threads = wild_integer();
    int now, status;
    memset(&any, UNTOUCHED, sizeof any);
    REQUIRE((look(mode_options_init(&any.o, size)) == MODE_OK) == (size == sizeof any.o), "options of %zu bytes", size);
    REQUIRE(size == sizeof any.o || untouched(&any, sizeof any), "options were written");
    memset(&any, UNTOUCHED, sizeof any);
    REQUIRE((look(mode_events_init(&any.e, size)) == MODE_OK) == (size == sizeof any.e), "events of %zu bytes", size);
    REQUIRE(size == sizeof any.e || untouched(&any, sizeof any), "events were written");
    memset(&any, UNTOUCHED, sizeof any);
    REQUIRE((look(mode_variable_init(&any.v, size)) == MODE_OK) == (size == sizeof any.v), "a variable of %zu bytes", size);
    REQUIRE(size == sizeof any.v || untouched(&any, sizeof any), "a variable was written");
    memset(&any, UNTOUCHED, sizeof any);
    REQUIRE((look(mode_option_at(k, &any.row)) == MODE_OK) == (k < mode_option_count()), "option %zu", k);
    REQUIRE(k < mode_option_count() || untouched(&any, sizeof any), "an option was written");
    look(mode_options_init(NULL, size)), look(mode_events_init(NULL, size)), look(mode_variable_init(NULL, size));
    look(mode_option_at(k, NULL)), look(mode_get_threads(NULL));
    status = look(mode_set_threads(threads));
    REQUIRE((status == MODE_OK) == (threads >= 0), "%d threads: status %d", threads, status);
    REQUIRE(!look(mode_get_threads(&now)) && now >= 1 && now <= 1024, "%d threads", now);
    REQUIRE(!look(mode_set_threads(0)), "%s", message);
}

static void execute(void) {
    const functions *f = one_in(2) ? &of_f32 : &of_f64;
    const mode_options *o = one_in(32) ? NULL : &options;
    mode_events *e = one_in(64) ? NULL : &events;
    int status;
    draw(f);
    keep_inputs();
    status = look(mode_options_check(o));
    REQUIRE((status == MODE_ERROR_ARGUMENT) == bad_options(o), "options_check: status %d: %s", status, message);
    REQUIRE(status == MODE_OK || status == MODE_ERROR_ARGUMENT || status == MODE_ERROR_OPTION, "options_check: status %d: %s", status, message);
    check_losses(f, o, e);
    if (events.mass && one_in(2)) check_inside(f, o);
    check_inputs();
    if (one_in(64)) check_structs();
}

int main(int argc, char **argv) {
    const unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    make_arrays();
    for (execution = first; execution < first + count && failures < 20; execution++) {
        if (argc > 3) fprintf(stderr, "%llu\n", execution);
        seed(execution);
        execute();
        checks++;
    }
    /* What never gets past the first check proves nothing. */
    for (int status = 0; count >= 100000 && status <= MODE_ERROR_UNDEFINED; status++)
        CHECK(by_status[status] || status == MODE_ERROR_FORKED || status == MODE_ERROR_INTERNAL, "no call returned status %d", status);
    if (argc > 2) fprintf(stderr, "%llu executions from %llu, %llu calls, of which %llu succeeded\n", count, first, calls, by_status[MODE_OK]);
    return finish();
}
