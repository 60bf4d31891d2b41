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
 * mode_options.moments has P and A. c~ is c, bounded if max_slope or monotonic is set. The
 * option unbiased subtracts the bias of a finite number of events from J. The
 * integral and the gradient are exact, without a grid in s. Time is O(n log n).
 * Memory is 12 bytes an event, 20 with weights or from 4 million float32 events on,
 * and with labels 16 to 36 more for each event of the label.
 *
 * Use:
 *
 *     mode_options options;
 *     mode_options_init(&options, sizeof options);
 *     options.order = 2;
 *     double loss;
 *     if (mode_loss_f64(&options, n, score, label, mass, weight, &loss, grad))
 *         fprintf(stderr, "%s\n", mode_last_error());
 *
 * Rules for every function:
 *
 * Results   A function returns MODE_OK, or the MODE_ERROR_... that stopped it. Results go
 *           where pointers point. After an error numbers and states are unchanged, and arrays
 *           of results mean nothing. A bad value is an error and never makes a NaN. Three
 *           constants are returned as they are: the message, the version, the ABI version.
 * Order     The arrays of events come in the order score, label, mass, weight, category.
 * Structs   Each begins with its size and ends with room for later versions, which must
 *           be 0. Set a struct that has no function ..._init to 0, and then struct_size.
 * Threads   Several threads may call a function at once, each with its own outputs.
 *           They may share inputs and options. A call may use more threads, see
 *           mode_set_threads. Results are identical, bit for bit, for any number of threads.
 *           Signal handlers must not call the library.
 * Memory    The caller owns all arguments, and the library keeps no pointer to them
 *           after the call. Arrays are contiguous, and aligned for their type. An
 *           output that overlaps an input, an option or another output is
 *           MODE_ERROR_ARGUMENT. The library keeps its working memory. A bad pointer, or
 *           a lack of memory during a call, ends the process. If the process may not have
 *           1.7 GB of address space more when it loads the library on Linux (ulimit -v),
 *           calls return MODE_ERROR_MEMORY, until one finds so much.
 * fork()    In a child of a process that had loaded the library, every call that
 *           computes returns MODE_ERROR_FORKED; none hangs. Load a copy of the
 *           library from another path there, or start children by spawn or exec.
 * Process   Loading starts the Go runtime: a few threads and, on Unix, handlers of
 *           SIGSEGV, SIGBUS, SIGFPE, SIGPIPE and SIGURG. They pass foreign signals
 *           on to the earlier handlers. The library stays loaded after dlclose.
 *           Install later handlers with SA_ONSTACK, or signals write over memory of Go.
 *           Each call gives the flag to those of the signals above, and of SIGPROF and
 *           SIGALRM, that lack it. A handler that is set during a call is safe from the
 *           next call on. In a thread that has called the library, it has 32 kB of stack.
 *
 * Not guaranteed: the same last bits from another version or processor, or from
 * float and double; the wording of messages; results under a rounding mode other
 * than to nearest, or with trapping floating-point exceptions.
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

/*
 * The version of this header; mode_version() is the version of the library in use.
 * The build and the Python package read it from here.
 */
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
 * The status of a call. mode_last_error() names the argument, its value and its
 * place. Later versions may add codes: treat an unknown code as an error.
 */
enum {
    MODE_OK = 0,
    MODE_ERROR_ARGUMENT = 1,    /* a NULL pointer, a wrong size, too many elements, no such type of labels */
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
 * The message of the last call of this thread that did not return MODE_OK, or
 * "" before any: never NULL, at most 1023 bytes. The library owns it. It is valid
 * until this thread ends or has its next error; a successful call leaves it.
 */
MODE_API const char *mode_last_error(void);

/* --------------------------------------------------------------- options */

enum { /* mode_options.binning: where the edges of the mass bins come from */
    MODE_BINNING_QUANTILE = 0, /* nearly equal numbers of events in each bin */
    MODE_BINNING_UNIFORM = 1,  /* equal widths */
    MODE_BINNING_EDGES = 2     /* given in mode_options.edges */
};

enum { /* mode_options.moments: how c follows from F */
    MODE_MOMENTS_PROJECTION = 0, /* P_bl = the weighted mean of P_l(x) over the bin's events,
                                    A = (P'P)^-1 P': a polynomial response has loss 0 */
    MODE_MOMENTS_QUADRATURE = 1  /* P_bl = P_l(x_b), A_lb = (2l+1)/2 D_b P_bl, as in the paper */
};

enum { /* mode_options.slope_of: max_slope is relative to this fraction */
    MODE_SLOPE_OF_REJECTED = 0, /* c_0, the fraction of background below s, as in the paper */
    MODE_SLOPE_OF_SELECTED = 1  /* 1 - c_0, the fraction that a cut at s keeps */
};

enum { /* mode_options.reduction */
    MODE_REDUCTION_MEAN = 0, /* divide by the number of bins used */
    MODE_REDUCTION_SUM = 1   /* the sum over bins, as in the paper */
};

enum { /* mode_options.missing: an event whose mass is NaN */
    MODE_MISSING_ERROR = 0, /* an error */
    MODE_MISSING_IGNORE = 1 /* counts as outside mass_range */
};

/*
 * The options of one of several variables of mass. Members mean the same as in
 * mode_options. mode_variable_init sets each to "not given".
 */
typedef struct mode_variable {
    size_t struct_size;   /* set by mode_variable_init; leave it alone */
    int32_t bins;         /* >= 1; 0: mode_options.bins */
    double mass_range[2]; /* -INFINITY, INFINITY: from the data */
    const double *edges;
    size_t n_edges;
    uint64_t reserved[4]; /* 0 */
} mode_variable;

/*
 * Sets every member to "not given"; call it before anything else is set. struct_size
 * is sizeof(mode_variable), as for mode_options_init.
 */
MODE_API int mode_variable_init(mode_variable *variable, size_t struct_size);

/*
 * The options. docs/options.md has the rules for the default number of bins. The defaults of moments and unbiased differ
 * from the paper, whose formula is MODE_MOMENTS_QUADRATURE with unbiased = 0.
 */
typedef struct mode_options {
    size_t struct_size;    /* set by mode_options_init; leave it alone */
    int32_t order;         /* degree of the allowed dependence on mass, 0..16; default 0 */
    int32_t bins;          /* mass bins asked for, >= 1; default 0: by the number of events; ignored with edges */
    int32_t binning;       /* MODE_BINNING_...; default MODE_BINNING_QUANTILE */
    int32_t moments;       /* MODE_MOMENTS_...; default MODE_MOMENTS_PROJECTION */
    int32_t slope_of;      /* MODE_SLOPE_OF_...; default MODE_SLOPE_OF_REJECTED */
    int32_t reduction;     /* MODE_REDUCTION_...; default MODE_REDUCTION_MEAN */
    int32_t monotonic;     /* flag: keep the response monotonic in mass; needs order >= 2; default off */
    int32_t unbiased;      /* flag: subtract the bias of a finite sample; default on */
    int32_t joint;         /* flag: bin several variables of mass together; default off: the mean of their losses */
    int32_t missing;       /* MODE_MISSING_...; default MODE_MISSING_ERROR */
    double max_slope;      /* bound on the slope, > 0; needs order >= 1; default INFINITY: none */
    double slope_penalty;  /* adds slope_penalty * c_1^2 to J, >= 0; needs order >= 1; default 0 */
    /* Ranges are finite with [0] < [1], or -INFINITY, INFINITY: from the data. For
       events in float their ends, and those of edges, are rounded to float, outwards,
       and the edges between them to the nearest float. */
    double mass_range[2];  /* events outside take no part; not with edges; default from the data */
    double score_range[2]; /* limits of the integral; a score outside is an error; default 0, 1 */
    /* For MODE_BINNING_EDGES and no other binning: n_edges >= 2 finite masses,
       each above the one before; the ends are the mass range. Default NULL, 0. */
    const double *edges;
    size_t n_edges;
    /* One entry for each variable of mass, if variables differ. Then leave mass_range
       and edges above at their defaults. All entries have one struct_size.
       Default NULL, 0: each variable has the bins above, and nothing else is given. */
    const mode_variable *variables;
    size_t n_variables;
    /* The labels of the background, all different, each with its own bins; the
       loss is the sum over them. Default NULL, 0: the one label 0. */
    const int32_t *background_label;
    size_t n_background_label;
    uint64_t reserved[8]; /* 0 */
} mode_options;

/*
 * Sets every option to its default; call it before anything else is set. struct_size is
 * sizeof(mode_options). Another size, of another header, is MODE_ERROR_ARGUMENT.
 */
MODE_API int mode_options_init(mode_options *options, size_t struct_size);

/*
 * Returns MODE_OK, or the error of the first option that is out of its range:
 * MODE_ERROR_OPTION, or MODE_ERROR_ARGUMENT for struct_size and for arrays that
 * are NULL or too long. The calls below check the same; this one needs no events.
 * NULL: all defaults.
 */
MODE_API int mode_options_check(const mode_options *options);

/* ------------------------------------------------------------------ loss */

enum { /* the types of labels */
    MODE_LABEL_INT32 = 0,
    MODE_LABEL_INT8 = 1,
    MODE_LABEL_UINT8 = 2, /* also for a bool of one byte, where 0 is false and 1 is true */
    MODE_LABEL_INT64 = 3,
    MODE_LABEL_FLOAT32 = 4,
    MODE_LABEL_FLOAT64 = 5
};

/*
 * The events of a call. Scores, masses and weights are all float or all double, by the function.
 *
 * An event is selected if its label equals one of background_label as a number. A
 * fraction, NaN or a number beyond 32 bits is an ordinary other label. The library
 * checks scores, masses and weights of selected events, also outside mass_range, and
 * does not read those of other events. Every bin needs a positive sum of weights,
 * and with unbiased also 1.05 effective events, (sum w)^2 / (sum w^2).
 */
typedef struct mode_events_f32 {
    size_t struct_size;       /* sizeof(mode_events_f32), which the caller sets */
    size_t n;                 /* number of events, 1 to 2^32 - 1 */
    const float *score;       /* n finite scores, inside score_range */
    const void *label;        /* n labels of the type label_type; NULL: every event is selected */
    const float *const *mass; /* n_mass pointers, each to the n masses of one variable: finite, in the unit of
                                 mass_range and edges; also NaN with MODE_MISSING_IGNORE */
    size_t n_mass;            /* number of variables, 1 to 3 */
    const float *weight;      /* n finite weights, of either sign; NULL: all 1 */
    const void *category;     /* n integers of the type category_type; NULL: all events are of one category */
    int32_t label_type;       /* MODE_LABEL_... */
    int32_t category_type;    /* MODE_LABEL_..., but neither of float nor of double */
    uint64_t reserved[4];     /* 0 */
} mode_events_f32;

typedef struct mode_events_f64 { /* the same in double */
    size_t struct_size;
    size_t n;
    const double *score;
    const void *label;
    const double *const *mass;
    size_t n_mass;
    const double *weight;
    const void *category;
    int32_t label_type;
    int32_t category_type;
    uint64_t reserved[4];
} mode_events_f64;

/*
 * Sets *loss to the loss of n events of one variable of mass, and grad to its n derivatives d loss/d score_i, 0 for events that take no
 * part; NULL: not wanted. The arrays are those of mode_events_f32; label and weight may be NULL. NULL options are the defaults.
 * The loss may be negative with unbiased. Sums run in double for any input.
 */
MODE_API int mode_loss_f32(const mode_options *options, size_t n, const float *score, const int32_t *label,
                           const float *mass, const float *weight, double *loss, float *grad);
MODE_API int mode_loss_f64(const mode_options *options, size_t n, const double *score, const int32_t *label,
                           const double *mass, const double *weight, double *loss, double *grad);

/*
 * What mode_evaluate_... finds. The caller sets the first members up to smoothing: to 0, and then what is
 * wanted. The call sets the others.
 */
typedef struct mode_result_f32 {
    size_t struct_size;   /* sizeof(mode_result_f32) */
    float *grad;          /* n derivatives d loss/d score_i, 0 for events that take no part; NULL: not wanted */
    float *hess;          /* n bounds h_i >= 0 on the curvature, see mode_evaluate_f32; NULL: not wanted */
    double smoothing;     /* of hess: the width of its window, finite and above 0; 0: 1/16 */
    int32_t quality;      /* flag: bias and events are wanted, which takes up to a third of the time more */
    double loss;          /* may be negative with unbiased */
    double bias;          /* the mean excess of the plain loss over the loss of an infinite sample, which unbiased subtracts.
                             NaN if not wanted; or if a bin has fewer than 1.05 effective events, so that it is not known */
    double events;        /* the effective number of events that take part, (sum w)^2 / sum w^2: the sum over labels and
                             categories, the mean over several variables one by one. NaN if not wanted */
    uint64_t reserved[4]; /* 0 */
} mode_result_f32;

typedef struct mode_result_f64 { /* the same in double */
    size_t struct_size;
    double *grad;
    double *hess;
    double smoothing;
    int32_t quality;
    double loss;
    double bias;
    double events;
    uint64_t reserved[4];
} mode_result_f64;

/*
 * The loss of events of any kind. A test with N background events sees no dependence if the unbiased loss is at most
 * bias events/N. The unbiased loss is `loss` with the option unbiased, and `loss - bias` without it.
 *
 * With several variables the loss is the mean of their losses, or with the option joint the loss in
 * cells of their space. With categories it is the sum of their losses, each as of a call with its events alone, times its share
 * of the sum of weights of all selected events, which must be positive. docs/variables.md has the rules.
 *
 * hess is for methods that need a Hessian, such as boosted trees, in units of the loss per score^2: v'Hv <= sum_i h_i v_i^2 for the
 * curvature H of the loss. docs/how-it-works.md has the formula for positive weights, and core.Curvature in Go for both
 * signs. Densities in the score are means over a window smoothing times as wide as score_range, or as the range of the inner three
 * quarters of the scores if score_range is from the data. So h bounds moves of about that size. They count as even within strips of 64
 * events, or of one event for every 4 events a bin if these are fewer: where scores crowd in a part of a strip, h is too small.
 * If all scores are equal and score_range is from the data, h is 0. The bound ignores unbiased, max_slope and monotonic.
 * More than 4096 bins are MODE_ERROR_OPTION; an h that overflows its type is MODE_ERROR_OVERFLOW.
 */
MODE_API int mode_evaluate_f32(const mode_options *options, const mode_events_f32 *events, mode_result_f32 *result);
MODE_API int mode_evaluate_f64(const mode_options *options, const mode_events_f64 *events, mode_result_f64 *result);

/* A multiple of the cross entropy, for mode_strengthen. */
typedef struct mode_strength {
    size_t struct_size;   /* sizeof(mode_strength); set the others to 0 */
    double strength;      /* K >= 0 */
    double factor;        /* of grad in its norm; 0: 1 */
    size_t batch;         /* the norms cover the first events, so many; 0: all */
    double *averages;     /* 3 numbers: the batches so far, and the averages of both norms; zeros before the first */
    double scale;         /* set: what grad was multiplied with */
    uint64_t reserved[4]; /* 0 */
} mode_strength;

/*
 * Multiplies grad, which mode_evaluate has set for these events, by K |C|/|M|; multiply the loss with strength->scale.
 * C is the gradient of the mean cross entropy by the scores of background, weight/(1 - score) over the number of events,
 * where 1 - score counts as 0.01 at least. M is grad. Both norms are averages over 200 batches, which the call brings up
 * to date. So with K = 1 the loss pushes as much as the cross entropy. After an error grad is unchanged.
 */
MODE_API int mode_strengthen_f32(const mode_options *options, const mode_events_f32 *events, mode_strength *strength, float *grad);
MODE_API int mode_strengthen_f64(const mode_options *options, const mode_events_f64 *events, mode_strength *strength, double *grad);

/* -------------------------------------------------------------- constraint */

/*
 * A constraint changes the gradient of a classifier's loss so that the dependence of its response on the mass disappears. The
 * gradient G_i by the logit of background event i becomes
 *
 *     start(m_i) G_i + K |G| / |u| u_i,        u_i = (dL/dq_i) / sqrt(q_i (1 - q_i)),
 *
 * where L is the MoDe loss of the ranks q of the background, start(m) the ratio of the densities of signal and background with
 * a floor, and |G| (after start) and |u| are norms over the background, averaged over 200 batches. docs/how-it-works.md derives
 * it. mode_constraint_push_... finds start and u for a batch, and mode_constraint_apply_... adds the push to a gradient.
 *
 * The state is what is remembered from batch to batch: numbers that the caller keeps, all 0 before the first batch.
 */
enum { /* places in a state */
    MODE_STATE_VERSION = 0,    /* MODE_STATE_LAYOUT; a state of another version is MODE_ERROR_OPTION */
    MODE_STATE_STEPS = 1,      /* the number of batches */
    MODE_STATE_MASSES = 2,     /* the number of variables of mass; events with another number are an error */
    MODE_STATE_CATEGORIES = 3  /* the number of categories; 0: none */
};

/* The version of the layout: changes when a number moves or means something else. */
#define MODE_STATE_LAYOUT 2

/*
 * Sets *size to the length of a state for so many background labels, at least 1, each of so many categories; 0: none.
 * It is the same for any number of masses.
 */
MODE_API int mode_state_size(size_t labels, size_t categories, size_t *size);

/*
 * Checks that an array is a state for so many background labels and categories: all 0, or of this layout and with numbers
 * inside their bounds. The functions below check the same.
 */
MODE_API int mode_state_check(const double *state, size_t n_state, size_t labels, size_t categories);

/* How a constraint acts. All members but the first may be 0 or NULL. */
typedef struct mode_constraint {
    size_t struct_size;     /* sizeof(mode_constraint), which the caller sets */
    double strength;        /* K. 0: 28 at order 0 and else 12, times (training_events / 150000)^(1/4). With a state, K of order 0
                               is multiplied by 1 - 0.6 exp(-n / 1000000) after n background events */
    double floor;           /* the least start, at most 1, which is no planing. 0: 0.1 (150000 / training_events)^(1/2) */
    double training_events; /* background events of the whole training, of all labels and processes. 0: unknown, as 150000 */
    const double *state;    /* is not changed. NULL: nothing is remembered */
    size_t n_state;         /* its length, see mode_state_size; also that of the lesson, even without a state */
    size_t batch;           /* the number of events to push; the events after them are reference events. 0: all */
    int32_t logits;         /* flag: the scores of the events are logits, and the push is by them; score_range is 0, 1 */
    int32_t categories;     /* the events' category is from 0 to categories - 1, and each has a push and a part of the state of
                               its own; one with too few events for bins gets no push from a batch. 0: no categories */
    uint64_t reserved[4];   /* 0 */
} mode_constraint;

/* What the law does to each of the constraint->batch, or n, events; and what a batch teaches. The caller sets all members. */
typedef struct mode_rows_f32 {
    size_t struct_size; /* sizeof(mode_rows_f32) */
    float *push;        /* K u/|u| by the score; 0 for events that take no part, and for scores that are not logits and lie
                           within 1e-6 of the width of score_range from one of its ends */
    float *multiplier;  /* start; 1 for events that take no part */
    float *slope;       /* the derivative of the score by its logit: 1 for logits; 0 for events that take no part */
    float *part;        /* the event's part of the state: the place of its label times categories, plus its category */
    double *lesson;     /* constraint->n_state numbers */
    uint64_t reserved[4]; /* 0 */
} mode_rows_f32;

typedef struct mode_rows_f64 { /* the same in double */
    size_t struct_size;
    double *push;
    double *multiplier;
    double *slope;
    double *part;
    double *lesson;
    uint64_t reserved[4];
} mode_rows_f64;

/*
 * Sets the rows of a batch. It changes no state. L has the bins, moments, bounds and bias of the options; a batch with too few
 * effective events for these bins gets fewer. Scores count by their order alone. Signal events have none of the background
 * labels: their masses and weights alone are read, and a mass that is not finite or out of range counts for nothing.
 */
MODE_API int mode_constraint_push_f32(const mode_options *options, const mode_events_f32 *events,
                                      const mode_constraint *constraint, const mode_rows_f32 *rows);
MODE_API int mode_constraint_push_f64(const mode_options *options, const mode_events_f64 *events,
                                      const mode_constraint *constraint, const mode_rows_f64 *rows);

/*
 * Sets result to multiplier G + |G| push for the n numbers of a gradient by the scores, and takes the batch into the state.
 * result may be gradient. NULL for both: the state alone is brought up to date. state may be NULL: |G| is then the norm of this
 * gradient. n_state is the length of the lesson and the state. norms is NULL, or has a number for each part of the state: the
 * norm of multiplier G slope over the events of that part, where this gradient has only some of them.
 *
 * If the loss is scaled by another power of two from one batch to the next, the average of |G| follows at once. A gradient with
 * an infinite or NaN element gets no push, and leaves the state as it was. So does a lesson of zeros.
 */
MODE_API int mode_constraint_apply_f32(size_t n, const mode_rows_f32 *rows, const float *gradient, float *result, double *state,
                                       size_t n_state, const double *norms);
MODE_API int mode_constraint_apply_f64(size_t n, const mode_rows_f64 *rows, const double *gradient, double *result,
                                       double *state, size_t n_state, const double *norms);

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
 *   x, y      n finite values each
 *   weight    n finite weights, of either sign; NULL: all 1
 *   unbiased  not 0: <> is the mean over different events (for equal weights, the U-centered form of G. Szekely and
 *             M. Rizzo, arXiv:1310.2926); *value may then be negative
 *   grad_x    n derivatives d value/d x_i; NULL: not wanted
 *   grad_y    the same for y_i
 *
 * At equal values the derivative of |x_i - x_j| counts as 0, the mean of both sides. Sums run in double for any input. Time is
 * O(n log n); memory is some 300 bytes an event.
 *
 * MODE_ERROR_UNDEFINED: all values of x or of y are equal (with unbiased, all but one); or the sum of
 * weights, dCov^2(x, x) or dCov^2(y, y) is not positive. MODE_ERROR_OVERFLOW also means that a derivative overflows its
 * type.
 */
MODE_API int mode_distance_correlation_f32(size_t n, const float *x, const float *y,
                                           const float *weight, int unbiased,
                                           double *value, float *grad_x, float *grad_y);
MODE_API int mode_distance_correlation_f64(size_t n, const double *x, const double *y,
                                           const double *weight, int unbiased,
                                           double *value, double *grad_x, double *grad_y);

/* -------------------------------------------------------------- look inside */

/*
 * The bins of a loss, and the parts of the loss at some scores. The caller sets the first members, up to bounded: to 0, and then
 * what is wanted. The call sets n_bins.
 */
typedef struct mode_table {
    size_t struct_size;   /* sizeof(mode_table) */
    size_t n_at;          /* the number of scores */
    const double *at;     /* these scores, in any order, also outside score_range, but not NaN */
    size_t capacity;      /* the bins for which edges and cdf have room. Enough are 32, or order + 2 if that is more; the option
                             bins if it is set; or n_edges - 1 */
    double *edges;        /* capacity + 1 numbers, of which the call sets n_bins + 1, in units of mass; NULL: not wanted */
    double *cdf;          /* n_at capacity numbers, of which the call sets n_at rows of n_bins: F_b, the weight fraction of bin
                             b with scores <= at; NULL: not wanted */
    double *moments;      /* n_at rows of order + 1: c_l; NULL: not wanted */
    double *bounded;      /* n_at rows of order + 1: c~_l; NULL: not wanted */
    size_t n_bins;        /* the number of bins used: equal masses may leave fewer than the option asks for */
    uint64_t reserved[4]; /* 0 */
} mode_table;

/*
 * Sets what *table wants. The events have one variable, one background_label and no categories. Scores matter only for cdf,
 * moments and bounded, and may be NULL without these; weights matter for the edges if the option bins is 0. A capacity below
 * n_bins is MODE_ERROR_ARGUMENT, with n_bins set: call again with so many.
 */
MODE_API int mode_table_f32(const mode_options *options, const mode_events_f32 *events, mode_table *table);
MODE_API int mode_table_f64(const mode_options *options, const mode_events_f64 *events, mode_table *table);

/* --------------------------------------------------------------- the library */

/*
 * Limits the threads of one call, for the whole process, from the next call on. 0
 * restores the default: all processors of the process. More than 1024 count as 1024;
 * fewer than 0 are MODE_ERROR_ARGUMENT. Small inputs use one thread.
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
