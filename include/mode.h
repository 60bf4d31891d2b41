/*
 * mode.h - the MoDe loss (Moment Decomposition), exact, with its gradient.
 *
 * Method: O. Kitouni, B. Nachman, C. Weisser, M. Williams, arXiv:2010.09745.
 * For events with scores s_i, masses m_i and weights w_i, and bins b of the mass,
 * which is mapped to [-1, 1]:
 *
 *     F_b(s) = sum of w_i over events of bin b with s_i <= s, over sum of w_i
 *     c_l(s) = sum_b A_lb F_b(s)           Legendre moments, l = 0..order
 *     J(s)   = sum_b (F_b - sum_l c~_l P_bl)^2 + slope_penalty c_1^2
 *     loss   = scale * integral of J over score_range
 *
 * mode_new has P and A. c~ is c, bounded if max_slope or monotonic is set. The option unbiased subtracts the bias of
 * a finite number of events from J. The integral and the gradient are exact, without a grid in s. Time is O(n log n).
 * Memory is 12 bytes an event, 20 with weights or from 4 million float32 events on, and with labels 16 to 36 more for
 * each event of the label.
 *
 * Use:
 *
 *     mode_handle *m = mode_new("order=2 monotonic mass_range=50,300");
 *     mode_events e = {.size = sizeof e, .n = n, .dtype = MODE_FLOAT32, .score = score, .mass = mass, .label = label};
 *     mode_result r = {.size = sizeof r};
 *     if (!m || mode_loss(m, &e, &r, grad))
 *         fprintf(stderr, "%s\n", mode_last_error());
 *     mode_free(m);
 *
 * Rules for every function:
 *
 * Results   A function returns MODE_OK, or the MODE_ERROR_... that stopped it. Results go where pointers point. After an
 *           error numbers and states are unchanged, and arrays of results mean nothing. A bad value is an error and
 *           never makes a NaN.
 * Structs   Each begins with its size. Set all other members to 0, and then what you need.
 * Types     Scores, masses, weights and gradients of a call are all float (MODE_FLOAT32) or all double (MODE_FLOAT64).
 *           Sums run in double for either.
 * Threads   Several threads may call a function at once, each with its own outputs. They may share inputs and handles.
 *           A call may use more threads, see mode_set_threads. Results are identical, bit for bit, for any number of
 *           threads. Signal handlers must not call the library.
 * Memory    The caller owns all arguments, and the library keeps no pointer to them after the call. Arrays are contiguous,
 *           and aligned for their type. An output that overlaps an input or another output is MODE_ERROR_ARGUMENT. The
 *           library keeps its working memory. A bad pointer, or a lack of memory during a call, ends the process. If the
 *           process may not have 1.7 GB of address space more when it loads the library on Linux (ulimit -v), calls
 *           return MODE_ERROR_MEMORY, until one finds so much.
 * fork()    In a child of a process that had loaded the library, every call that computes returns MODE_ERROR_FORKED;
 *           none hangs. Load a copy of the library from another path there, and make handles anew from their text,
 *           or start children by spawn or exec.
 * Process   Loading starts the Go runtime: a few threads and, on Unix, handlers of SIGSEGV, SIGBUS, SIGFPE, SIGPIPE and
 *           SIGURG. They pass foreign signals on to the earlier handlers. The library stays loaded after dlclose.
 *           Install later handlers with SA_ONSTACK, or signals write over memory of Go. Each call gives the flag to those
 *           of the signals above, and of SIGPROF and SIGALRM, that lack it. A handler that is set during a call is safe
 *           from the next call on. In a thread that has called the library, it has 32 kB of stack.
 *
 * Not guaranteed: the same last bits from another version or processor, or from float and double; the wording of
 * messages; results under a rounding mode other than to nearest, or with trapping floating-point exceptions.
 *
 * C99 or later, and C++; mode.hpp is for C++.
 */
#ifndef LIBMODE_MODE_H
#define LIBMODE_MODE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(MODE_BUILDING)
#define MODE_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define MODE_API __attribute__((visibility("default")))
#else
#define MODE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; mode_version() is the version of the library in use. The build and the Python package read it. */
#define MODE_VERSION_MAJOR 0
#define MODE_VERSION_MINOR 3
#define MODE_VERSION_PATCH 0
#define MODE_VERSION \
    MODE_QUOTE(MODE_VERSION_MAJOR) "." MODE_QUOTE(MODE_VERSION_MINOR) "." MODE_QUOTE(MODE_VERSION_PATCH)
#define MODE_QUOTE(number) MODE_QUOTE_EXPANDED(number)
#define MODE_QUOTE_EXPANDED(number) #number

/* Changes when a program compiled against an older header no longer works. */
#define MODE_ABI_VERSION 4

/* ---------------------------------------------------------------- status */

/*
 * The status of a call. mode_last_error() names the argument, its value and its place. Later versions may add codes: treat
 * an unknown code as an error.
 */
enum {
    MODE_OK = 0,
    MODE_ERROR_ARGUMENT = 1,    /* a NULL pointer, a wrong size, too many elements, no such type, no such handle */
    MODE_ERROR_OPTION = 2,      /* an option out of its range */
    MODE_ERROR_NOT_FINITE = 3,  /* a score, mass or weight is NaN or infinite */
    MODE_ERROR_SCORE_RANGE = 4, /* a score outside score_range */
    MODE_ERROR_TOO_FEW = 5,     /* no event selected, or too few for the bins or for DisCo */
    MODE_ERROR_BIN = 6,         /* a bin is empty, or a bin or category has no positive sum of weights */
    MODE_ERROR_OVERFLOW = 7,    /* the result overflows double precision */
    MODE_ERROR_FORKED = 8,      /* the library was loaded before fork(), and this is the child */
    MODE_ERROR_INTERNAL = 9,    /* a defect of the library */
    MODE_ERROR_UNDEFINED = 10,  /* DisCo of these events would be 0/0 */
    MODE_ERROR_MEMORY = 11      /* too little address space is left to start Go (ulimit -v) */
};

/*
 * The message of the last error of this thread, or "" before any: never NULL, at most 1023 bytes. The library owns it. It is
 * valid until this thread ends or has its next error; a successful call leaves it.
 */
MODE_API const char *mode_last_error(void);

/* --------------------------------------------------------------- options */

/*
 * A handle has options and nothing else. Any number of threads may use it at once. A pointer that mode_new did not
 * return, or that was freed, is MODE_ERROR_ARGUMENT.
 */
typedef struct mode_handle mode_handle;

/*
 * Returns a handle for the options in a text, or NULL after an error, such as MODE_ERROR_OPTION for an option out of its
 * range. NULL or "" are the defaults, of order 0. The text has words with white space between them: name=value, or the name
 * of a flag alone. Numbers have a point in any locale, and lists commas: mass_range=50,300. If variables of mass differ,
 * semicolons stand between their values: mass_range=50,300;none, and after the value of a single variable. Labels have
 * semicolons too: background_label=0;2. `none` is no value or no limit. docs/options.md has the defaults and all rules.
 *
 *   order=0..16        degree of the allowed dependence on mass
 *   bins=N             mass bins asked for; none: by the number of events
 *   binning=...        quantile: nearly equal numbers of events; uniform: equal widths; edges: given, as edges=LIST says alone
 *   mass_range=LO,HI   events outside take no part; none: from the data; not with edges
 *   score_range=LO,HI  limits of the integral; a score outside is an error; none: from the data
 *   moments=...        projection: P_bl is the weighted mean of P_l(x) over the events of the bin, and A = (P'P)^-1 P', so that
 *                      a polynomial response has loss 0; quadrature (the paper): P_bl = P_l(x_b), A_lb = (2l+1)/2 D_b P_bl
 *   unbiased, joint, monotonic   flags; unbiased is true by default, and the paper's formula has unbiased=false
 *   max_slope=R        bound on the slope, relative to c_0 (slope_of=rejected) or 1 - c_0 (slope_of=selected)
 *   slope_penalty=P    adds P c_1^2 to J
 *   reduction=...      mean: divide by the number of bins used; sum: do not, as the paper
 *   missing=...        error: a mass of NaN is an error; ignore: it counts as outside mass_range
 *   background_label=LIST   labels of the background, each with its own bins; the loss is the sum over them
 *   strength, floor, training_events, from_logits, categories   of mode_push; strength also of mode_loss with averages
 *
 * For events in float the ends of ranges and of edges are rounded to float, outwards, and the edges between them to the
 * nearest float.
 */
MODE_API mode_handle *mode_new(const char *options);

/*
 * Sets the edges of the mass bins to n numbers, for edges that are too many for a text: those of the only variable, 0, or
 * of several one after the other, 0 to 2. No other thread may use the handle meanwhile. After an error the handle is as before.
 */
MODE_API int mode_set_edges(mode_handle *m, size_t variable, size_t n, const double *edges);

/*
 * The options that differ from their defaults, as a text for mode_new. The handle owns the text, until mode_set_edges or
 * mode_free. "" for a handle of NULL; NULL after an error.
 */
MODE_API const char *mode_text(const mode_handle *m);

/* Frees a handle. Other pointers, and NULL, are left alone; in a child after fork() so is any. */
MODE_API void mode_free(mode_handle *m);

/* ------------------------------------------------------------------ loss */

enum { /* types of arrays */
    MODE_INT32 = 0,
    MODE_FLOAT32 = 1,
    MODE_FLOAT64 = 2,
    MODE_INT64 = 3,
    MODE_INT8 = 4,
    MODE_UINT8 = 5 /* also for a bool of one byte, where 0 is false and 1 is true */
};

/*
 * The events of a call. An event is selected if its label equals one of background_label as a number. A fraction, NaN or a
 * number beyond 32 bits is an ordinary other label. The library checks scores, masses and weights of selected events, also
 * outside mass_range, and does not read those of other events. Every bin needs a positive sum of weights, and with unbiased
 * also 1.05 effective events, (sum w)^2 / (sum w^2).
 */
typedef struct mode_events {
    size_t size;           /* sizeof(mode_events) */
    size_t n;              /* number of events, 1 to 2^32 - 1 */
    int32_t dtype;         /* of score, mass, weight and gradients: MODE_FLOAT32 or MODE_FLOAT64 */
    int32_t label_type;    /* any type */
    int32_t category_type; /* a type of integers */
    int32_t n_mass;        /* number of variables of mass, 1 to 3; 0: 1 */
    const void *score;     /* n finite scores, inside score_range */
    const void *mass;      /* n masses of each variable, one variable after the other: finite, in the unit of mass_range and
                              edges; also NaN with missing=ignore */
    const void *label;     /* n labels; NULL: every event is selected */
    const void *weight;    /* n finite weights, of either sign; NULL: all 1 */
    const void *category;  /* n integers; NULL: all events are of one category */
    size_t batch;          /* events after the first `batch` are reference events, for mode_push and averages; 0: none are */
} mode_events;

/* What mode_loss finds, and what is wanted. */
typedef struct mode_result {
    size_t size;      /* sizeof(mode_result) */
    double loss;      /* set; may be negative with unbiased */
    double bias;      /* set: the mean excess of the plain loss over the loss of an infinite sample, which unbiased subtracts.
                         NaN if not wanted; or if a bin has fewer than 1.05 effective events, so that it is not known */
    double events;    /* set: the effective number of events that take part, (sum w)^2 / sum w^2: the sum over labels and
                         categories, the mean over several variables one by one. NaN if not wanted */
    int32_t quality;  /* flag: bias and events are wanted, as always with hess. Takes up to a sixth of the time more */
    double smoothing; /* of hess: the width of its window, finite and above 0; 0: 1/16 */
    void *hess;       /* n bounds h_i >= 0 on the curvature; NULL: not wanted */
    double *averages; /* NULL, or 3 numbers, zeros before the first batch: makes the loss a multiple of the cross entropy */
} mode_result;

/*
 * The loss of n events, and grad: n derivatives d loss/d score_i, 0 for events that take no part; NULL: not wanted. A test
 * with N background events sees no dependence if the unbiased loss is at most bias events/N. The unbiased loss is `loss`
 * with the option unbiased, and `loss - bias` without it.
 *
 * With several variables the loss is the mean of their losses, or with the option joint the loss in cells of their space.
 * With categories it is the sum of their losses, each as of a call with its events alone, times its share of the sum of
 * weights of all selected events, which must be positive. docs/options.md has the rules.
 *
 * hess is for methods that need a Hessian, such as boosted trees, in units of the loss per score^2: v'Hv <= sum_i h_i v_i^2
 * for the curvature H of the loss. docs/how-it-works.md has the formula for positive weights, and core.Curvature in Go for
 * both signs. Densities in the score are means over a window smoothing times as wide as score_range, or as the range of the
 * inner three quarters of the scores if score_range is from the data. So h bounds moves of about that size. They count as
 * even within strips of an eighth of a window, or of 1/1024 of the events, or of as many events as there are bins, if that
 * is wider. If all scores are equal and score_range is from the data, h is 0. The bound ignores unbiased, max_slope and
 * monotonic. More than 4096 bins are MODE_ERROR_OPTION; an h that overflows its type is MODE_ERROR_OVERFLOW.
 *
 * With averages the call multiplies loss, bias and grad by K |C|/|M|, where K is the option strength. C is the gradient of
 * the mean cross entropy of the batch by the scores of background, weight/(1 - score) over the number of events, where 1 -
 * score counts as 0.01 at least. M is grad of the batch, as if the batch were all events. Both norms are averages over 200
 * batches: the number of batches and both averages are the 3 numbers, which the call brings up to date. With K = 1 the loss
 * pushes as much as the cross entropy. Then hess must be NULL.
 */
MODE_API int mode_loss(const mode_handle *m, const mode_events *events, mode_result *result, void *grad);

/* -------------------------------------------------------------- constraint */

/* The length of a state of mode_push, in doubles, for the labels and categories of the options; 0 after an error. */
MODE_API size_t mode_state_size(const mode_handle *m);

/*
 * Checks that an array of this length is a state: all 0, or with the version of this library, 3, as its first number, and
 * with numbers inside their bounds. mode_push checks the same. The second number counts the batches.
 */
MODE_API int mode_state_check(const mode_handle *m, const double *state);

/*
 * Changes the gradient of a classifier's loss so that the dependence of its response on the mass disappears. The gradient G_i
 * by the logit of background event i becomes
 *
 *     start(m_i) G_i + K |G| / |u| u_i,        u_i = (dL/dq_i) / sqrt(q_i (1 - q_i)),
 *
 * where L is the MoDe loss of the ranks q of the background, start(m) the ratio of the densities of signal and background with
 * a floor, and |G| (after start) and |u| are norms over the background, averaged over 200 batches: docs/how-it-works.md.
 *
 * Options of the law. strength is K, 0 for planing alone; none: 24 at order 0 and else 12, times (training_events /
 * 150000)^(1/4), times (c / b)^(1/2) for b > c background events, with reference events, of the label and category,
 * with c = 512 at order 0 and else 1024. With a state, K of order 0 is multiplied by 1 - exp(-max(n / 512000, k /
 * 1000)) after n background events in k batches. floor is the least start, at most 1, which is no planing; none: 0.1
 * (150000 / training_events)^(1/2). training_events is the number of background events of the whole training; none:
 * unknown, as 150000. from_logits: the scores are logits, gradients are by them, and score_range is 0,1. categories:
 * the events' category is from 0 to categories - 1, and each has a push and a part of the state of its own; one with
 * too few events for bins gets no push from a batch.
 *
 * L has the bins, moments, bounds and bias of the options; a batch with too few effective events for these bins gets fewer.
 * Signal events have none of the background labels: their masses and weights alone are read, and a mass that is not finite
 * or out of range counts for nothing. Scores that are not logits and lie within 1e-6 of the width of score_range from one
 * of its ends get no push.
 *
 * The state is what is remembered from batch to batch: numbers that the caller keeps, all 0 before the first batch. NULL:
 * nothing is remembered, and |G| is the norm of this gradient. The gradients have `batch` numbers, or n. grad_out may be
 * grad_in; if both are NULL, the state alone is brought up to date. If the loss is scaled by another power of two from one
 * batch to the next, the average of |G| follows at once. A gradient with an infinite or NaN element gets no push, and
 * leaves the state as it was.
 */
MODE_API int mode_push(const mode_handle *m, const mode_events *events, double *state, const void *grad_in, void *grad_out);

/* ------------------------------------------------------ distance correlation */

/*
 * Sets *value to the squared distance correlation of x and y, and grad_x and grad_y to its derivatives. With mass and score
 * it is the loss DisCo of G. Kasieczka and D. Shih, arXiv:2001.05310, as in the authors' code for power 1; give it the
 * events of the background alone. With a_ij = |x_i - x_j|, b_ij = |y_i - y_j|:
 *
 *     dCov^2(x, y) = <a_ij b_ij> - 2 <a_ij b_ik> + <a_ij b_kl>
 *     value        = dCov^2(x, y) / sqrt(dCov^2(x, x) dCov^2(y, y))
 *
 * where <> is the mean over all events i, j, k, l, weighted with the product of their weights.
 *
 *   n         number of events: 2 to 2^32 - 1, with unbiased 4 or more
 *   dtype     of x, y, weight and the gradients: MODE_FLOAT32 or MODE_FLOAT64
 *   x, y      n finite values each
 *   weight    n finite weights, of either sign; NULL: all 1
 *   unbiased  not 0: <> is the mean over different events (for equal weights, the U-centered form of G. Szekely and
 *             M. Rizzo, arXiv:1310.2926); *value may then be negative
 *   grad_x    n derivatives d value/d x_i; NULL: not wanted. The same for grad_y
 *
 * At equal values the derivative of |x_i - x_j| counts as 0, the mean of both sides. Time is O(n log n); memory is some 300
 * bytes an event. MODE_ERROR_UNDEFINED: all values of x or of y are equal (with unbiased, all but one); or the sum of weights,
 * dCov^2(x, x) or dCov^2(y, y) is not positive. MODE_ERROR_OVERFLOW also means that a derivative overflows its type.
 */
MODE_API int mode_distance_correlation(size_t n, int32_t dtype, const void *x, const void *y, const void *weight, int unbiased,
                                       double *value, void *grad_x, void *grad_y);

/* -------------------------------------------------------------- look inside */

/* The bins of a loss, and the parts of the loss at some scores. The call sets n_bins and what is wanted. */
typedef struct mode_table {
    size_t size;          /* sizeof(mode_table) */
    size_t n_at;          /* the number of scores */
    const double *at;     /* these scores, in any order, also outside score_range, but not NaN */
    size_t capacity;      /* the bins for which edges and cdf have room. Enough are 32, or order + 2 if that is more; the option
                             bins if it is set; or the edges, less one */
    double *edges;        /* capacity + 1 numbers, of which the call sets n_bins + 1, in units of mass; NULL: not wanted */
    double *cdf;          /* n_at capacity numbers, of which the call sets n_at rows of n_bins: F_b, the weight fraction of bin
                             b with scores <= at; NULL: not wanted */
    double *moments;      /* n_at rows of order + 1: c_l; NULL: not wanted */
    double *bounded;      /* n_at rows of order + 1: c~_l; NULL: not wanted */
    size_t n_bins;        /* the number of bins used: equal masses may leave fewer than the option asks for */
} mode_table;

/*
 * Sets what *table wants. The events have one variable, one background_label and no categories. Scores matter only for cdf,
 * moments and bounded, and may be NULL without these; weights matter for the edges if bins=none. A capacity below
 * n_bins is MODE_ERROR_ARGUMENT, with n_bins set: call again with so many.
 */
MODE_API int mode_table_of(const mode_handle *m, const mode_events *events, mode_table *table);

/* --------------------------------------------------------------- the library */

/*
 * Limits the threads of one call, for the whole process, from the next call on. 0 restores the default: all processors of the
 * process. More than 1024 count as 1024; fewer than 0 are MODE_ERROR_ARGUMENT. Small inputs use one thread.
 */
MODE_API int mode_set_threads(int threads);

/* Sets *threads to the number of threads that one call may use, at least 1. */
MODE_API int mode_get_threads(int *threads);

/* The version of the library in use, as MODE_VERSION; never fails. */
MODE_API const char *mode_version(void);

/* MODE_ABI_VERSION of the library in use; never fails. */
MODE_API int mode_abi_version(void);

#ifdef __cplusplus
}
#endif

#endif
