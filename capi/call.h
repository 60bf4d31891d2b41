/* A call from mode.c to Go, and an error on its way back. */
#ifndef MODE_CALL_H
#define MODE_CALL_H

#include "private.h"

enum { MESSAGE_SIZE = 1024 };

/* The message of mode_last_error(), and its parts. */
typedef struct failure {
    char text[MESSAGE_SIZE];
    mode_error parts;
} failure;

/* The functions of Go: exports.go has them in a table. */
enum {
    CHECK, EVALUATE, LOSS, STRENGTHEN, PUSH, APPLY, TABLE, CORRELATE, OPTION_COUNT, OPTION_AT, STATE_SIZE, STATE_CHECK,
    FUNCTIONS
};

/* What a function takes, by its need; mode.c has checked the structs. */
typedef struct call {
    int function, single;  /* which one; whether arrays are float, and otherwise double */
    mode_options *options;
    void *events;          /* mode_events_f32 or mode_events_f64 */
    void *how, *out;       /* a struct that says how, and a struct for results */
    void *array, *result;  /* the gradient of mode_strengthen, the state of mode_state_check; a gradient and what becomes of it */
    double *number;        /* a result, or a state */
    double *norms;         /* of the gradient of mode_constraint_apply */
    size_t *count;         /* a result */
    size_t n, labels, categories, n_state;
    failure *failed;
} call;

/* The arrays of mode_distance_correlation: x, y, weight, grad_x, grad_y. */
typedef struct pair {
    size_t n;
    int unbiased;
    void *arrays[5];
} pair;

#endif
