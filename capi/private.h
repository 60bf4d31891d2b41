/*
 * What the Python package and the tests use of the library beside mode.h. Any version may change it, and the package and the
 * library must be of one version.
 */
#ifndef LIBMODE_PRIVATE_H
#define LIBMODE_PRIVATE_H

#include <mode.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { /* mode_error.advice: what the message advises, in the words of C */
    MODE_ADVICE_NONE = 0,
    MODE_ADVICE_WIDEN = 1,     /* widen score_range, or set it to [-Inf, +Inf] */
    MODE_ADVICE_SIGMOID = 2,   /* apply a sigmoid to raw outputs, or the same */
    MODE_ADVICE_LEAVE_OUT = 3  /* leave events out, or set missing to MODE_MISSING_IGNORE and give NaN */
};

/*
 * The parts of the message of mode_last_error(), for a program that words errors itself: some bytes, the name of an
 * argument, "[place]" if there is a place, more bytes, and the advice.
 */
typedef struct mode_error {
    size_t size;      /* sizeof(mode_error) */
    int32_t status;   /* MODE_ERROR_..., or MODE_OK before any error */
    int32_t advice;   /* MODE_ADVICE_... */
    int64_t place;    /* the index of the event in the arrays of the call; -1: none */
    size_t name_at;   /* the first byte of the name, */
    size_t name_end;  /* and the first byte after it; 0: there is no name */
    size_t advice_at; /* the first byte of the advice; the end of the message without one */
} mode_error;

/* Sets *error to the parts of the last error of this thread. */
MODE_API int mode_last_error_parts(mode_error *error);

/*
 * The table of options: a line for each, with tabs between its name, its kind (integer flag choice number range numbers
 * labels), its default, and what is allowed. NULL after an error.
 */
MODE_API const char *mode_options_table(void);

/*
 * mode_push in two steps, for a gradient that is known later. rows has 4 batch (or n) numbers of the events' type, one row
 * after the other:
 *
 *     push        K u/|u| by the score; 0 for events that take no part
 *     multiplier  start; 1 for events that take no part
 *     slope       the derivative of the score by its logit: 1 for logits; 0 for events that take no part
 *     part        the event's part of the state: the place of its label times categories, plus its category
 *
 * lesson has mode_state_size(m) numbers: what the batch teaches. The state does not change; NULL: nothing is remembered.
 */
MODE_API int mode_push_rows(const mode_handle *m, const mode_events *events, const double *state, void *rows, double *lesson);

/*
 * Sets result to multiplier G + |G| push for the n numbers of a gradient by the scores, and takes the batch into the state.
 * n_state is the length of the lesson and the state. norms is NULL, or has a number for each part of the state: the
 * norm of multiplier G slope over the events of that part, where this gradient has only some of them. A lesson of zeros, of a
 * batch that is skipped, leaves the state as it was.
 */
MODE_API int mode_push_apply(size_t n, int32_t dtype, const void *rows, const double *lesson, size_t n_state, const void *gradient,
                             void *result, double *state, const double *norms);

#ifdef __cplusplus
}
#endif

#endif
