/*
 * Whatever the functions of mode.h are given: no crash, nothing read or written beyond an array, a status that
 * fits the arguments, nothing written after an error, and the same loss with a gradient and without.
 *
 * usage: fuzz EXECUTIONS [FIRST [trace]]
 *
 * An execution draws its arguments from its number alone: what failed is repeated by "fuzz 1 NUMBER", and "trace"
 * prints each number before it is run. Each array ends where memory that may be touched ends.
 */
#define _DEFAULT_SOURCE /* mmap */
#include <float.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../capi/private.h"
#include "check.h"

/* --------------------------------------------------------------- numbers at random */

static unsigned long long execution;
static uint64_t state;

static uint64_t bits(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int below(int n) { return (int)((bits() >> 33) % (uint64_t)n); }
static int one_in(int n) { return below(n) == 0; }
#define ONE_OF(values) (values)[below(sizeof(values) / sizeof *(values))]

/* A number at which something changes, or any bits. */
static double wild(void) {
    static const double some[] = {0, -0.0, 1, -1, 0.5, 2, 1e-12, 1e-300, -1e-300, DBL_MIN / 8, FLT_MIN / 8, 1e12, FLT_MAX,
                                  3.5e38, 1e300, -1e300, DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, NAN, 100, 4294967296.0};
    double any;
    const uint64_t word = bits();
    memcpy(&any, &word, sizeof any);
    return one_in(4) ? any : ONE_OF(some);
}

static int32_t wild_integer(void) {
    static const int32_t some[] = {0, 1, 2, 3, 4, 5, 16, 17, -1, -2, 7, 100, INT32_MAX, INT32_MIN};
    return one_in(8) ? (int32_t)(bits() >> 32) : ONE_OF(some);
}

/* A size that no call can take. */
static size_t wild_size(void) {
    static const size_t some[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 32, (size_t)0 - 8, (size_t)1 << 60};
    return ONE_OF(some);
}

/* --------------------------------------------------------------------------- arrays */

#define REQUIRE(condition, ...)                                                     \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "execution %llu: ", execution);                         \
            fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                      \
        }                                                                           \
    } while (0)

enum { ROOM = 8192, MAX_MASS = 3, BEFORE = 64, UNTOUCHED = 0x5a }; /* BEFORE: bytes before an output, which is full of UNTOUCHED */
enum { SCORE, MASS, WEIGHT = MASS + MAX_MASS, LABEL, CATEGORY, EDGES, LABELS, VARIABLES, AT, INPUTS,
       GRAD = INPUTS, HESS, FOUND_EDGES, CDF, MOMENTS, LESSON, ARRAYS };

static char *ends[ARRAYS], *kept[INPUTS]; /* copies of the inputs */
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

static void *output(int array, size_t n, size_t size) {
    memset(ends[array] - n * size - BEFORE, UNTOUCHED, n * size + BEFORE);
    return ends[array] - n * size;
}

static int untouched(const void *from, size_t bytes) {
    for (size_t k = 0; k < bytes; k++)
        if (((const unsigned char *)from)[k] != UNTOUCHED) return 0;
    return 1;
}

/* ------------------------------------------------------------------ arguments at random */

static mode_options options;
static mode_events_f64 events; /* also of float, by size */
static const double *at;
static double smoothing;
static size_t n_at, size; /* of a number of the events */
static const double *masses[MAX_MASS];

static double number(const void *array, size_t i) { return size == 4 ? (double)((const float *)array)[i] : ((const double *)array)[i]; }

/* Values of one array: good ones from lo to hi, some of them or all spoilt now and then. */
static const void *draw_values(int array, double lo, double hi, int steps, int spoil) {
    void *to = input(array, events.n, size);
    const int limits = one_in(4); /* lo and hi are among them */
    for (size_t i = 0; i < events.n; i++) {
        double v = lo + (hi - lo) * (double)(float)((below(steps + limits) + (limits ? 0 : 0.5)) / steps);
        if (spoil && one_in(spoil)) v = wild();
        if (size == 8) ((double *)to)[i] = v;
        else ((float *)to)[i] = (float)(fabs(v) > (double)FLT_MAX ? copysign(INFINITY, v) : v);
    }
    return to;
}

static const void *draw_labels(int array, int32_t type) {
    static const size_t sizes[] = {4, 1, 1, 8, 4, 8};
    char *to = input(array, events.n, type >= 0 && type < 6 ? sizes[type] : 8);
    for (size_t k = 0; k < used[array]; k++) to[k] = one_in(16) ? (char)bits() : 0;
    return to;
}

/* Increasing numbers, most often, in an array of their own. */
static const double *draw_numbers(int array, size_t n, double lo, double hi) {
    double *to = input(array, n, sizeof(double));
    for (size_t k = 0; k < n; k++) to[k] = one_in(24) ? wild() : lo + (hi - lo) * (double)(k + 1) / (double)(n + 1);
    return to;
}

static void draw_list(const double **list, size_t *n, int array, double lo, double hi) {
    *n = (size_t)below(8);
    *list = draw_numbers(array, *n, lo, hi);
    if (one_in(16)) *list = NULL;
    if (one_in(32)) *n = wild_size();
}

static void draw_variables(void) {
    const size_t n = (size_t)below(MAX_MASS + 1);
    mode_variable *v = input(VARIABLES, n, sizeof *v);
    for (size_t k = 0; k < n; k++) {
        mode_variable_init(&v[k], sizeof *v);
        if (one_in(2)) v[k].bins = one_in(4) ? wild_integer() : below(6);
        if (one_in(8)) v[k].mass_range[0] = one_in(2) ? 50 : wild();
        if (one_in(8)) v[k].mass_range[1] = one_in(2) ? 150 : wild();
        if (one_in(32)) v[k].struct_size = one_in(2) ? wild_size() : (size_t)below(200);
    }
    if (n && one_in(4)) draw_list(&v[n - 1].edges, &v[n - 1].n_edges, EDGES, 40, 160);
    options.variables = one_in(16) ? NULL : v;
    options.n_variables = one_in(32) ? wild_size() : n;
}

/* Changes one option, of any kind, by what the library says of it. */
static void draw_option(void) {
    mode_option row;
    char *to;
    memset(&row, 0, sizeof row);
    row.struct_size = sizeof row;
    size_t options_known = 1;
    mode_option_count(&options_known);
    mode_option_at((size_t)below((int)options_known), &row);
    to = (char *)&options + row.offset;
    if (row.kind == MODE_KIND_INTEGER || row.kind == MODE_KIND_FLAG || row.kind == MODE_KIND_CHOICE) {
        const int32_t value = one_in(4) ? wild_integer() : row.kind == MODE_KIND_FLAG ? below(2) : below(row.n_values ? (int)row.n_values : 6);
        memcpy(to, &value, sizeof value);
    } else if (row.kind == MODE_KIND_NUMBER) {
        const double value = one_in(4) ? wild() : below(512) / 256.0;
        memcpy(to, &value, sizeof value);
    } else if (row.kind == MODE_KIND_RANGE) {
        const int mass = !strcmp(row.name, "mass_range"), open = one_in(2);
        double value[2] = {open ? -INFINITY : mass ? 60 : -1, open ? INFINITY : mass ? 140 : 2};
        if (one_in(6)) value[below(2)] = wild();
        memcpy(to, value, sizeof value);
    } else if (!strcmp(row.name, "edges")) {
        draw_list(&options.edges, &options.n_edges, EDGES, 40, 160);
        options.binning = one_in(8) ? options.binning : MODE_BINNING_EDGES;
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

static void draw(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 5, 8, 9, 16, 17, 33, 60, 64, 100};
    const int spoil = one_in(4) ? 4 << below(6) : 0, steps = 1 << below(10);
    memset(used, 0, sizeof used);
    mode_options_init(&options, sizeof options);
    if (one_in(2)) options.bins = 1 + below(8);
    if (one_in(2)) options.order = below(4);
    if (one_in(4)) options.score_range[0] = -INFINITY, options.score_range[1] = INFINITY;
    for (int k = below(5); k > 0; k--) draw_option();
    if (one_in(64)) options.struct_size = one_in(2) ? wild_size() : (size_t)below(1000);

    memset(&events, 0, sizeof events);
    events.struct_size = sizeof events;
    size = one_in(2) ? sizeof(float) : sizeof(double);
    events.n = one_in(200) ? (size_t)below(ROOM - BEFORE) : ONE_OF(sizes);
    events.n_mass = one_in(4) ? (size_t)(1 + below(MAX_MASS)) : 1;
    events.score = draw_values(SCORE, 0, 1, steps, spoil);
    for (int k = 0; k < MAX_MASS; k++) masses[k] = draw_values(MASS + k, 50, 150, one_in(3) ? steps : 1 << 20, spoil);
    events.mass = masses;
    if (one_in(2)) events.weight = draw_values(WEIGHT, one_in(3) ? -0.25 : 0, 2, steps, spoil);
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
    if (one_in(64)) ONE_OF(events.reserved) = 1;
    smoothing = one_in(8) ? wild() : 0;
}

/* ------------------------------------------------- what header and arguments say of a status */

static int bad_list(const void *list, size_t n) { return n > UINT32_MAX || (!list && n); }

static int bad_options(const mode_options *o) {
    if (!o) return 0;
    if (o->struct_size != sizeof *o || bad_list(o->edges, o->n_edges) ||
        bad_list(o->background_label, o->n_background_label) || bad_list(o->variables, o->n_variables) || o->n_variables > MAX_MASS)
        return 1;
    for (size_t k = 0; k < o->n_variables; k++) {
        const mode_variable *v = &o->variables[k];
        if (v->struct_size != sizeof *v || bad_list(v->edges, v->n_edges)) return 1;
    }
    return 0;
}

static int bad_labels(const void *labels, int32_t type, int32_t types) { return labels && (type < 0 || type >= types); }

/* `scores` is whether they are looked at. */
static int bad_events(const mode_events_f64 *e, int scores) {
    for (size_t k = 0; e && k < 4; k++)
        if (e->reserved[k]) return 1;
    if (!e || e->struct_size != sizeof *e || !e->mass || e->n_mass < 1 || e->n_mass > MAX_MASS || e->n > UINT32_MAX) return 1;
    if ((scores && e->n && !e->score) || bad_labels(e->label, e->label_type, MODE_LABEL_FLOAT64 + 1)) return 1;
    for (size_t k = 0; k < e->n_mass; k++)
        if (!e->mass[k] && e->n) return 1;
    return bad_labels(e->category, e->category_type, MODE_LABEL_INT64 + 1);
}

/* ------------------------------------------------------------------------------ the checks */

static unsigned long long by_status[MODE_ERROR_UNDEFINED + 1];

static int look(int status, int bad) {
    REQUIRE(status >= 0 && status <= MODE_ERROR_UNDEFINED && status != MODE_ERROR_FORKED && status != MODE_ERROR_INTERNAL,
            "status %d: %s", status, mode_last_error());
    REQUIRE((status == MODE_ERROR_ARGUMENT) == bad, "status %d: %s", status, mode_last_error());
    if (status >= 0 && status <= MODE_ERROR_UNDEFINED) by_status[status]++;
    return status;
}

typedef int evaluate_f32(const mode_options *, const mode_events_f32 *, mode_result_f32 *);
typedef int evaluate_f64(const mode_options *, const mode_events_f64 *, mode_result_f64 *);

static int evaluate(evaluate_f32 *f32, evaluate_f64 *f64, const mode_options *o, const mode_events_f64 *e, double *loss, void *grad, int quality, void *hess) {
    mode_result_f64 r;
    memset(&r, 0, sizeof r);
    r.struct_size = sizeof r, r.grad = grad, r.hess = hess, r.smoothing = smoothing, r.quality = quality;
    memset(&r.loss, UNTOUCHED, sizeof r.loss);
    const int status = size == 4 ? f32(o, (const mode_events_f32 *)e, (mode_result_f32 *)(void *)&r) : f64(o, e, &r);
    look(status, bad_options(o) || bad_events(e, 1));
    REQUIRE(status ? untouched(&r.loss, sizeof r.loss) : isfinite(r.loss), "loss %g, status %d", r.loss, status);
    REQUIRE(status ? r.events == 0 : quality || hess ? r.events > 0 : isnan(r.events), "status %d", status);
    *loss = r.loss;
    return status;
}

static void check_finite(const char *array, double least) {
    for (size_t i = 0; i < events.n; i++) REQUIRE(isfinite(number(array, i)) && number(array, i) >= least, "[%zu] = %g", i, number(array, i));
    REQUIRE(untouched(array - BEFORE, BEFORE), "written before an output");
}

/* The distance correlation of the first mass and the score. */
static void check_correlation(void) {
    const size_t n = events.n < ROOM ? events.n : 0;
    const void *const x = events.mass ? masses[0] : NULL;
    void *grad_x = one_in(2) ? output(GRAD, n, size) : NULL, *grad_y = output(HESS, n, size);
    const int unbiased = one_in(2);
    double value;
    int status;
    memset(&value, UNTOUCHED, sizeof value);
    status = size == 4 ? mode_distance_correlation_f32(events.n, x, (const float *)(const void *)events.score, (const float *)(const void *)events.weight, unbiased, &value, grad_x, grad_y)
                       : mode_distance_correlation_f64(events.n, x, events.score, events.weight, unbiased, &value, grad_x, grad_y);
    look(status, events.n > UINT32_MAX || (events.n && (!x || !events.score)));
    REQUIRE(status ? untouched(&value, sizeof value) : isfinite(value), "DisCo %g, status %d", value, status);
    if (!status) check_finite(grad_y, -INFINITY);
}

static void check_losses(const mode_options *o, const mode_events_f64 *e) {
    const size_t n = events.n < ROOM ? events.n : 0;
    void *grad = output(GRAD, n, size), *hess = output(HESS, n, size);
    double alone, with;
    int status = evaluate(mode_evaluate_f32, mode_evaluate_f64, o, e, &alone, NULL, 0, NULL);
    int other = evaluate(mode_evaluate_f32, mode_evaluate_f64, o, e, &with, grad, 0, NULL);
    REQUIRE(other == status || (other == MODE_ERROR_OVERFLOW && !status), "with a gradient status %d, not %d", other, status);
    REQUIRE(other || !memcmp(&alone, &with, sizeof alone), "with a gradient %g, not %g", with, alone);
    if (!other) check_finite(grad, -INFINITY);
    other = evaluate(mode_evaluate_f32, mode_evaluate_f64, o, e, &with, one_in(2) ? grad : NULL, one_in(2), hess);
    REQUIRE(other || !status, "hess gives what the loss refuses");
    if (!other) check_finite(hess, 0);
    check_correlation();
}

/* The bins of a loss of one variable, and its parts at some scores. */
static int fill(const mode_options *o, mode_table *t) {
    t->struct_size = sizeof *t;
    return size == 4 ? mode_table_f32(o, (const mode_events_f32 *)&events, t) : mode_table_f64(o, &events, t);
}

static void check_inside(const mode_options *o) {
    mode_table t;
    memset(&t, 0, sizeof t);
    t.capacity = one_in(4) ? (size_t)below(8) : (size_t)(ROOM - BEFORE - 1);
    t.edges = output(FOUND_EDGES, t.capacity + 1, sizeof *t.edges);
    int status = fill(o, &t);
    look(status, bad_options(o) || bad_events(&events, 0) || t.n_bins > t.capacity);
    REQUIRE(untouched((char *)t.edges - BEFORE, BEFORE + (status ? t.capacity * sizeof *t.edges : 0)), "edges were written");
    if (status) return;
    const size_t bins = t.n_bins;
    for (size_t k = 1; k <= bins; k++) REQUIRE(t.edges[k] > t.edges[k - 1] && isfinite(t.edges[k]), "edges[%zu] = %g", k, t.edges[k]);
    t.capacity = one_in(16) ? (size_t)below(9) : bins;
    const size_t room = n_at * t.capacity;
    if (room > ROOM - BEFORE || n_at * bins > ROOM - BEFORE) return;
    double *const moments = output(MOMENTS, n_at * 17, sizeof *moments);
    t.edges = NULL, t.n_at = n_at, t.at = at, t.cdf = output(CDF, room, sizeof *t.cdf);
    *(one_in(2) ? &t.moments : &t.bounded) = one_in(8) ? NULL : moments;
    status = fill(o, &t);
    REQUIRE(status || (t.n_bins == bins && t.capacity >= bins), "%zu bins, not %zu", t.n_bins, bins);
    REQUIRE(!status || untouched(t.cdf, room * sizeof *t.cdf), "moments were written: %s", mode_last_error());
    for (size_t k = 0; !status && k < n_at * bins; k++) REQUIRE(isfinite(t.cdf[k]), "cdf[%zu] = %g", k, t.cdf[k]);
    REQUIRE(untouched((char *)t.cdf - BEFORE, BEFORE) && untouched((char *)moments - BEFORE, BEFORE), "written before an output");
}

/* The push of a constraint, for two batches with one state. */
static void check_direction(const mode_options *o) {
    const size_t labels = o && o->background_label && o->n_background_label ? o->n_background_label : 1;
    const size_t categories = events.category ? 3 : 0;
    const size_t n = events.n < ROOM ? events.n : 0;
    size_t n_state = ROOM;
    mode_state_size(labels, categories, &n_state);
    double *const kept_state = output(FOUND_EDGES, n_state < ROOM - BEFORE ? n_state : 0, sizeof *kept_state);
    mode_constraint how;
    memset(&how, 0, sizeof how);
    how.struct_size = sizeof how;
    how.batch = n && one_in(2) ? 1 + (size_t)below((int)n) : 0;
    how.logits = one_in(2);
    how.categories = (int32_t)categories;
    how.n_state = n_state < ROOM - BEFORE ? n_state : 0;
    if (one_in(2)) how.state = kept_state;
    how.strength = one_in(2), how.floor = one_in(2) ? 0.5 : 0;
    memset(kept_state, 0, how.n_state * sizeof *kept_state);
    for (int k = 0; k < 2; k++) {
        const size_t batch = how.batch ? how.batch : n;
        void *const push = output(GRAD, batch, size), *const slope = output(HESS, batch, size), *const multiplier = output(CDF, batch, size);
        void *const part = output(MOMENTS, batch, size);
        double *const lesson = output(LESSON, how.n_state, sizeof *lesson);
        const mode_rows_f64 rows = {sizeof rows, push, multiplier, slope, part, lesson, {0}};
        const int status = size == 4 ? mode_constraint_push_f32(o, (const mode_events_f32 *)&events, &how, (const mode_rows_f32 *)(const void *)&rows)
                                     : mode_constraint_push_f64(o, &events, &how, &rows);
        look(status, bad_options(o) || bad_events(&events, 1));
        for (size_t i = 0; !status && i < batch; i++) REQUIRE(isfinite(number(push, i)) && isfinite(number(slope, i)) && number(multiplier, i) > 0, "push[%zu]", i);
        REQUIRE(untouched((char *)lesson - BEFORE, BEFORE) && untouched((char *)push - BEFORE, BEFORE) &&
                untouched((char *)slope - BEFORE, BEFORE) && untouched((char *)multiplier - BEFORE, BEFORE), "written before an output");
        if (status) continue;
        const int applied = size == 4 ? mode_constraint_apply_f32(batch, (const mode_rows_f32 *)(const void *)&rows, slope, slope, kept_state, how.n_state, NULL)
                                      : mode_constraint_apply_f64(batch, &rows, slope, slope, kept_state, how.n_state, NULL);
        REQUIRE(!applied, "%s", mode_last_error());
        for (size_t i = 0; i < how.n_state; i++) REQUIRE(isfinite(kept_state[i]), "state[%zu] = %g", i, kept_state[i]);
    }
}

static void execute(void) {
    const mode_options *o;
    draw();
    o = one_in(32) ? NULL : &options;
    for (int k = 0; k < INPUTS; k++) memcpy(kept[k], ends[k] - used[k], used[k]);
    look(mode_options_check(o), bad_options(o));
    check_losses(o, one_in(64) ? NULL : &events);
    if (events.mass && one_in(2)) check_inside(o);
    if (one_in(2)) check_direction(o);
    for (int k = 0; k < INPUTS; k++) REQUIRE(!memcmp(kept[k], ends[k] - used[k], used[k]), "input %d was written", k);
}

int main(int argc, char **argv) {
    const unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const unsigned long long first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    make_arrays();
    for (execution = first; execution < first + count && failures < 20; execution++) {
        if (argc > 3) fprintf(stderr, "%llu\n", execution);
        state = execution << 32;
        execute();
        checks++;
    }
    /* What never gets past the first check proves nothing. */
    for (int status = 0; count >= 100000 && status <= MODE_ERROR_UNDEFINED; status++)
        CHECK(by_status[status] || status == MODE_ERROR_FORKED || status == MODE_ERROR_INTERNAL, "no call returned status %d", status);
    return finish();
}
