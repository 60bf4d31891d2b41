/*
 * check.h - what the C tests share: checks that count, and how a program ends.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mode.h"

static int checks, failures;

#define CHECK(condition, ...)                                   \
    do {                                                        \
        checks++;                                               \
        if (!(condition)) {                                     \
            failures++;                                         \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                       \
            fputc('\n', stderr);                                \
        }                                                       \
    } while (0)

/* Ends a test program: the count for run.sh, and the exit status. */
static int finish(void) {
    printf("%d\n", checks);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
