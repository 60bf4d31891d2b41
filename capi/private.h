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
    size_t struct_size;  /* sizeof(mode_error); set the others to 0 */
    int32_t status;      /* MODE_ERROR_..., or MODE_OK before any error */
    int32_t advice;      /* MODE_ADVICE_... */
    int64_t place;       /* the index of the event in the arrays of the call; -1: none */
    size_t name_at;      /* the first byte of the name, */
    size_t name_end;     /* and the first byte after it; 0: there is no name */
    size_t advice_at;    /* the first byte of the advice; the end of the message without one */
    uint64_t reserved[4]; /* 0 */
} mode_error;

/* Sets *error to the parts of the last error of this thread. */
MODE_API int mode_last_error_parts(mode_error *error);

/* The table of options. */

enum { /* mode_option.kind: the type of the member of mode_options */
    MODE_KIND_INTEGER = 0, /* int32_t */
    MODE_KIND_FLAG = 1,    /* int32_t: 0 is off, another number on */
    MODE_KIND_CHOICE = 2,  /* int32_t: the number of a name */
    MODE_KIND_NUMBER = 3,  /* double */
    MODE_KIND_RANGE = 4,   /* double[2] */
    MODE_KIND_NUMBERS = 5, /* const double *, and after it a size_t: how many */
    MODE_KIND_LABELS = 6,  /* const int32_t *, and after it a size_t: how many */
    MODE_KIND_VARIABLES = 7 /* const mode_variable *, and after it a size_t: how many */
};

/* A row of the table of options, for programs that handle options by name, such as bindings. */
typedef struct mode_option {
    size_t struct_size;        /* sizeof(mode_option), which the caller sets */
    const char *name;          /* the name of the member of mode_options; a constant, like all strings here */
    int32_t kind;              /* MODE_KIND_... */
    size_t offset;             /* of the member in mode_options */
    const char *const *values; /* of a choice: n_values names, by number; otherwise NULL */
    size_t n_values;
    double none;               /* of an integer or a number: the value that means not given or no limit; NaN: none */
    uint64_t reserved[4];      /* 0 */
} mode_option;

/* Sets *count to the number of options. */
MODE_API int mode_option_count(size_t *count);

/* Sets *option to option k, 0 <= k < count, in the order of the members of mode_options. */
MODE_API int mode_option_at(size_t k, mode_option *option);


#ifdef __cplusplus
}
#endif

#endif
