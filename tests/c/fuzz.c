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
enum { TEXT, SCORE, MASS, WEIGHT, LABEL, CATEGORY, EDGES, AT, INPUTS, GRAD = INPUTS, HESS, FOUND_EDGES, CDF, MOMENTS, LESSON, ARRAYS };

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

static unsigned long long by_status[MODE_ERROR_UNDEFINED + 1];
static char text[ROOM]; /* of options */
static mode_handle *m;  /* for them, or another pointer */
static int bad_handle;
static mode_events events;
static const double *at;
static double smoothing, averages[3];
static size_t n_at, size; /* of a number of the events */

static double number(const void *array, size_t i) { return size == 4 ? (double)((const float *)array)[i] : ((const double *)array)[i]; }

/* Values of one array: good ones from lo to hi, some of them or all spoilt now and then. */
static const void *draw_values(int array, size_t n, double lo, double hi, int steps, int spoil) {
    void *to = input(array, n, size);
    const int limits = one_in(4); /* lo and hi are among them */
    for (size_t i = 0; i < n; i++) {
        double v = lo + (hi - lo) * (double)(float)((below(steps + limits) + (limits ? 0 : 0.5)) / steps);
        if (spoil && one_in(spoil)) v = wild();
        if (size == 8) ((double *)to)[i] = v;
        else ((float *)to)[i] = (float)(fabs(v) > (double)FLT_MAX ? copysign(INFINITY, v) : v);
    }
    return to;
}

static const void *draw_labels(int array, int32_t type) {
    static const size_t sizes[] = {4, 4, 8, 8, 1, 1};
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

static void append(const char *format, ...) {
    const size_t length = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + length, sizeof text - length, format, values);
    va_end(values);
}

static void append_number(void) {
    if (one_in(4)) append("%.17g", wild());
    else append("%.17g", below(512) / 256.0);
}

/* A value of an option of a kind, most often one that may stand there. */
static void append_value(const char *kind, const char *allowed) {
    if (one_in(16)) append("none");
    else if (!strcmp(kind, "integer")) append("%d", one_in(4) ? wild_integer() : below(6));
    else if (!strcmp(kind, "flag")) append("%s", one_in(2) ? "true" : "false");
    else if (!strcmp(kind, "number")) append_number();
    else if (!strcmp(kind, "choice")) { /* one of a, b, c */
        const char *name = strstr(allowed, "one of ") + strlen("one of ");
        for (int k = below(3); k > 0 && strchr(name, ' '); k--) name = strchr(name, ' ') + 1;
        append("%.*s", (int)strcspn(name, ",\n"), name);
    } else if (!strcmp(kind, "range")) {
        append("%d,%d", one_in(2) ? 60 : -1, one_in(2) ? 140 : 2);
        if (one_in(8)) append(",");
    } else if (!strcmp(kind, "numbers")) {
        const int n = below(8);
        for (int k = 0; k < n; k++) append(k ? ",%.17g" : "%.17g", one_in(24) ? wild() : 40 + 120. * (k + 1) / (n + 1));
    } else if (!strcmp(kind, "labels")) {
        const int n = below(4);
        for (int k = 0; k < n; k++) append(k ? ";%d" : "%d", one_in(8) ? wild_integer() : k);
    } else {
        REQUIRE(0, "a kind that is not known here: %s", kind);
    }
}

/* A word for any option, by what the library says of it. */
static void append_option(void) {
    static const char *lines[64];
    static int count;
    if (!count)
        for (const char *line = mode_options_table(); *line; line = strchr(line, '\n') + 1) lines[count++] = line;
    const char *const line = lines[below(count)], *const allowed = strchr(strchr(strchr(line, '\t') + 1, '\t') + 1, '\t');
    char name[32], kind[16];
    sscanf(line, "%31[^\t]\t%15[^\t]", name, kind);
    append(" %s", name);
    if (one_in(16)) return;
    append("=");
    const int variables = one_in(6) ? 1 + below(4) : 1;
    for (int k = 0; k < variables; k++) {
        if (k) append(";");
        append_value(kind, allowed);
    }
    if (one_in(32)) text[below((int)strlen(text))] = (char)(33 + below(90));
}

/* A handle for options, or what is none. */
static void draw_handle(void) {
    text[0] = 0;
    if (one_in(2)) append("bins=%d ", 1 + below(8));
    if (one_in(2)) append("order=%d ", below(4));
    if (one_in(4)) append("score_range=none");
    if (one_in(4)) append(" categories=3");
    for (int k = below(5); k > 0; k--) append_option();
    char *const given = input(TEXT, strlen(text) + 1, 1);
    memcpy(given, text, used[TEXT]);
    m = mode_new(one_in(32) ? NULL : given);
    REQUIRE(m || *mode_last_error(), "no message for \"%s\"", text);
    if (!m) by_status[MODE_ERROR_OPTION]++, m = mode_new("bins=3 strength=2");
    mode_handle *const again = mode_new(mode_text(m));
    REQUIRE(again && !strcmp(mode_text(again), mode_text(m)), "\"%s\" becomes \"%s\"", mode_text(m), mode_text(again));
    mode_free(again);
    if (one_in(16)) {
        const size_t n = (size_t)below(8);
        const double *edges = draw_numbers(EDGES, n, 40, 160);
        const int status = mode_set_edges(m, one_in(4) ? wild_size() : (size_t)below(4), one_in(16) ? wild_size() : n, one_in(16) ? NULL : edges);
        REQUIRE(status == MODE_OK || status == MODE_ERROR_OPTION || status == MODE_ERROR_ARGUMENT, "status %d", status);
    }
    if ((bad_handle = one_in(64))) {
        mode_free(m);
        if (one_in(2)) m = one_in(2) ? NULL : (mode_handle *)(uintptr_t)bits();
    }
}

static void draw(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 5, 8, 9, 16, 17, 33, 60, 64, 100};
    const int spoil = one_in(4) ? 4 << below(6) : 0, steps = 1 << below(10);
    memset(used, 0, sizeof used);
    draw_handle();
    memset(&events, 0, sizeof events);
    events.size = sizeof events;
    size = one_in(2) ? sizeof(float) : sizeof(double);
    events.dtype = size == sizeof(float) ? MODE_FLOAT32 : MODE_FLOAT64;
    events.n = one_in(200) ? (size_t)below((ROOM - BEFORE) / MAX_MASS) : ONE_OF(sizes);
    events.n_mass = one_in(4) ? below(MAX_MASS + 1) : 1;
    events.score = draw_values(SCORE, events.n, 0, 1, steps, spoil);
    events.mass = draw_values(MASS, events.n * (size_t)(events.n_mass ? events.n_mass : 1), 50, 150, one_in(3) ? steps : 1 << 20, spoil);
    if (one_in(2)) events.weight = draw_values(WEIGHT, events.n, one_in(3) ? -0.25 : 0, 2, steps, spoil);
    if (one_in(2)) {
        events.label_type = one_in(16) ? wild_integer() : below(6);
        events.label = draw_labels(LABEL, events.label_type);
    }
    if (one_in(6)) {
        events.category_type = one_in(8) ? wild_integer() : MODE_INT64 + below(3);
        events.category = draw_labels(CATEGORY, events.category_type);
    }
    if (events.n && one_in(3)) events.batch = (size_t)below((int)events.n);
    n_at = (size_t)below(5);
    at = draw_numbers(AT, n_at, 0, 1);
    if (one_in(64)) events.mass = NULL;
    if (one_in(64)) events.score = NULL;
    if (one_in(64)) events.n_mass = one_in(2) ? wild_integer() : below(6) - 1;
    if (one_in(64)) events.n = wild_size();
    if (one_in(64)) events.batch = wild_size();
    if (one_in(64)) events.size = one_in(2) ? wild_size() : (size_t)below(200);
    if (one_in(64)) events.dtype = wild_integer();
    if (events.n_mass > 1 && events.n_mass <= MAX_MASS && used[MASS] < events.n * size * (size_t)events.n_mass) events.n_mass = 1;
    if (events.dtype != (size == sizeof(float) ? MODE_FLOAT32 : MODE_FLOAT64) && (events.dtype == MODE_FLOAT32 || events.dtype == MODE_FLOAT64)) events.dtype = -1;
    smoothing = one_in(8) ? wild() : 0;
    for (int k = 0; k < 3; k++) averages[k] = one_in(16) ? wild() : below(3);
}

/* ------------------------------------------------- what header and arguments say of a status */

static int bad_labels(const void *labels, int32_t type) { return labels && (type < 0 || type > MODE_UINT8); }

/* `scores` is whether they are looked at. */
static int bad_events(const mode_events *e, int scores) {
    if (bad_handle || !e || e->size != sizeof *e || e->n_mass < 0 || e->n_mass > MAX_MASS || e->n > UINT32_MAX || e->batch > e->n) return 1;
    if ((e->n && !e->mass) || (e->dtype != MODE_FLOAT32 && e->dtype != MODE_FLOAT64)) return 1;
    if ((scores && e->n && !e->score) || bad_labels(e->label, e->label_type) || bad_labels(e->category, e->category_type)) return 1;
    return e->category && (e->category_type == MODE_FLOAT32 || e->category_type == MODE_FLOAT64);
}

/* ------------------------------------------------------------------------------ the checks */

static int look(int status, int bad) {
    REQUIRE(status >= 0 && status <= MODE_ERROR_UNDEFINED && status != MODE_ERROR_FORKED && status != MODE_ERROR_INTERNAL,
            "status %d: %s", status, mode_last_error());
    REQUIRE((status == MODE_ERROR_ARGUMENT) == bad, "status %d: %s", status, mode_last_error());
    if (status >= 0 && status <= MODE_ERROR_UNDEFINED) by_status[status]++;
    return status;
}

static int evaluate(const mode_events *e, double *loss, void *grad, int quality, void *hess, double *with_averages) {
    mode_result r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r, r.hess = hess, r.smoothing = smoothing, r.quality = quality, r.averages = with_averages;
    memset(&r.loss, UNTOUCHED, sizeof r.loss);
    const int status = mode_loss(m, e, &r, grad);
    look(status, bad_events(e, 1));
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
    void *grad_x = one_in(2) ? output(GRAD, n, size) : NULL, *grad_y = output(HESS, n, size);
    double value;
    memset(&value, UNTOUCHED, sizeof value);
    const int status = mode_distance_correlation(events.n, events.dtype, events.mass, events.score, events.weight, one_in(2), &value, grad_x, grad_y);
    look(status, events.n > UINT32_MAX || (events.n && (!events.mass || !events.score)) || (events.dtype != MODE_FLOAT32 && events.dtype != MODE_FLOAT64));
    REQUIRE(status ? untouched(&value, sizeof value) : isfinite(value), "DisCo %g, status %d", value, status);
    if (!status) check_finite(grad_y, -INFINITY);
}

static void check_losses(const mode_events *e) {
    const size_t n = events.n < ROOM ? events.n : 0;
    void *grad = output(GRAD, n, size), *hess = output(HESS, n, size);
    double alone, with, before[3];
    int status = evaluate(e, &alone, NULL, 0, NULL, NULL);
    int other = evaluate(e, &with, grad, 0, NULL, NULL);
    REQUIRE(other == status || (other == MODE_ERROR_OVERFLOW && !status), "with a gradient status %d, not %d", other, status);
    REQUIRE(other || !memcmp(&alone, &with, sizeof alone), "with a gradient %g, not %g", with, alone);
    if (!other) check_finite(grad, -INFINITY);
    other = evaluate(e, &with, one_in(2) ? grad : NULL, one_in(2), hess, NULL);
    REQUIRE(other || !status, "hess gives what the loss refuses");
    if (!other) check_finite(hess, 0);
    memcpy(before, averages, sizeof before);
    other = evaluate(e, &with, one_in(2) ? grad : NULL, one_in(2), NULL, averages);
    REQUIRE(other ? !memcmp(before, averages, sizeof before) : averages[0] == before[0] + 1, "averages, status %d", other);
    check_correlation();
}

/* The bins of a loss of one variable, and its parts at some scores. */
static void check_inside(void) {
    mode_table t;
    memset(&t, 0, sizeof t);
    t.size = sizeof t;
    t.capacity = one_in(4) ? (size_t)below(8) : (size_t)(ROOM - BEFORE - 1);
    t.edges = output(FOUND_EDGES, t.capacity + 1, sizeof *t.edges);
    int status = mode_table_of(m, &events, &t);
    look(status, bad_events(&events, 0) || t.n_bins > t.capacity);
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
    status = mode_table_of(m, &events, &t);
    REQUIRE(status || (t.n_bins == bins && t.capacity >= bins), "%zu bins, not %zu", t.n_bins, bins);
    REQUIRE(!status || untouched(t.cdf, room * sizeof *t.cdf), "moments were written: %s", mode_last_error());
    for (size_t k = 0; !status && k < n_at * bins; k++) REQUIRE(isfinite(t.cdf[k]), "cdf[%zu] = %g", k, t.cdf[k]);
    REQUIRE(untouched((char *)t.cdf - BEFORE, BEFORE) && untouched((char *)moments - BEFORE, BEFORE), "written before an output");
}

/* The push of a constraint, for two batches with one state. */
static void check_push(void) {
    const size_t n_state = mode_state_size(m), n = events.n < ROOM ? events.n : 0, batch = events.batch ? events.batch : n;
    REQUIRE((n_state > 0) == !bad_handle || strstr(mode_last_error(), "categories"), "a state of %zu: %s", n_state, mode_last_error());
    if (n_state > ROOM - BEFORE || batch > (ROOM - BEFORE) / 4) return;
    double *const known = output(FOUND_EDGES, n_state, sizeof *known), *const lesson = output(LESSON, n_state, sizeof *lesson);
    memset(known, 0, n_state * sizeof *known);
    for (int k = 0; k < 2; k++) {
        char *const rows = output(CDF, 4 * batch, size), *const grad = output(GRAD, batch, size);
        double *const remembered = one_in(2) ? known : NULL;
        int status = mode_push_rows(m, &events, remembered, rows, lesson);
        look(status, bad_events(&events, 1));
        for (size_t i = 0; !status && i < batch; i++)
            REQUIRE(isfinite(number(rows, i)) && isfinite(number(rows, 2 * batch + i)) && number(rows, batch + i) >= 0, "push[%zu]", i);
        REQUIRE(untouched((char *)lesson - BEFORE, BEFORE) && untouched(rows - BEFORE, BEFORE), "written before an output");
        if (!status) memcpy(grad, rows + 2 * batch * size, batch * size);
        const int pushed = mode_push(m, &events, remembered, grad, grad);
        REQUIRE(pushed == status, "in one call status %d, in two %d", pushed, status);
        for (size_t i = 0; i < n_state; i++) REQUIRE(isfinite(known[i]) && (known[i] == 0 || !pushed || k), "state[%zu] = %g", i, known[i]);
        if (status) continue;
        status = mode_push_apply(batch, events.dtype, rows, lesson, n_state, rows, rows, known, NULL);
        REQUIRE(status == MODE_ERROR_ARGUMENT, "a gradient over rows");
        status = mode_push_apply(batch, events.dtype, rows, lesson, n_state, grad, grad, known, NULL);
        REQUIRE(!status, "%s", mode_last_error());
    }
}

static void execute(void) {
    draw();
    for (int k = 0; k < INPUTS; k++) memcpy(kept[k], ends[k] - used[k], used[k]);
    check_losses(one_in(64) ? NULL : &events);
    if (one_in(2)) check_inside();
    if (one_in(2)) check_push();
    for (int k = 0; k < INPUTS; k++) REQUIRE(!memcmp(kept[k], ends[k] - used[k], used[k]), "input %d was written", k);
    mode_free(m);
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
