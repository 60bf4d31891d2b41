/*
 * check.h - what the C and C++ tests share: checks that count, and how a program ends.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mode.h"

static int checks, failures;

#ifdef __GNUC__
__attribute__((format(printf, 4, 5)))
#endif
static void fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list values;
    failures++;
    fprintf(stderr, "%s:%d: %s: ", file, line, condition);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

#define CHECK(condition, ...)                                                   \
    do {                                                                        \
        checks++;                                                               \
        if (!(condition)) fail(__FILE__, __LINE__, #condition, __VA_ARGS__);    \
    } while (0)

/* Ends a test program: the count for run.sh, and the exit status. */
static int finish(void) {
    printf("%d\n", checks);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
