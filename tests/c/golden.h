/*
 * golden.h - reads the golden cases as golden_to_text.py writes them, for C, C++ and ROOT.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdio.h>

#include "set_option.h"

typedef struct {
    char name[128];
    mode_options options;
    double edges[64];
    size_t n;
    double loss;
    double *score, *mass, *weight, *grad; /* weight: NULL if there are none */
} golden_case;

/* The words of the line that follows and must begin with `name`; NULL at the end of the file. */
static inline char *next_line(FILE *file, const char *name) {
    static char *line = NULL;
    static size_t room = 0;
    size_t length = 0;
    char *rest, *first;
    do {
        if (room < length + 2 && !(line = (char *)realloc(line, room = 2 * room + 4096))) abort();
        if (!fgets(line + length, (int)(room - length), file)) return NULL;
        length += strlen(line + length);
    } while (line[length - 1] != '\n');
    rest = line;
    first = next_word(&rest);
    if (!first || strcmp(first, name)) {
        if (!strcmp(name, "option") && first) { /* options end where something else begins */
            fseek(file, -(long)length, SEEK_CUR);
            return NULL;
        }
        fprintf(stderr, "\"%s\" expected, as golden_to_text.py writes it, not \"%s\"\n", name, first);
        exit(EXIT_FAILURE);
    }
    return rest;
}

/* Returns the numbers of a line, NULL if it has none, and sets n to how many there are. */
static inline double *read_numbers(FILE *file, const char *name, size_t *n) {
    char *rest = next_line(file, name), *word;
    double *values = NULL;
    *n = 0;
    while (rest && (word = next_word(&rest))) {
        if (!(*n & (*n - 1)) && !(values = (double *)realloc(values, (*n ? 2 * *n : 1) * sizeof *values))) abort();
        values[(*n)++] = strtod(word, NULL);
    }
    return values;
}

/* Returns 0 at the end of the file. */
static inline int read_case(FILE *file, golden_case *c) {
    size_t n;
    char *rest = next_line(file, "case");
    double *loss;
    if (!rest) return 0;
    snprintf(c->name, sizeof c->name, "%s", next_word(&rest));
    mode_options_init(&c->options, sizeof c->options);
    while ((rest = next_line(file, "option"))) {
        const char *name = next_word(&rest);
        if (set_option(&c->options, name, rest, c->edges)) continue;
        fprintf(stderr, "%s: libmode has no option %s\n", c->name, name);
        exit(EXIT_FAILURE);
    }
    loss = read_numbers(file, "loss", &n);
    c->loss = *loss;
    free(loss);
    c->score = read_numbers(file, "score", &c->n);
    c->mass = read_numbers(file, "mass", &n);
    c->weight = read_numbers(file, "weight", &n);
    c->grad = read_numbers(file, "grad", &n);
    return 1;
}

static inline void free_case(golden_case *c) {
    free(c->score);
    free(c->mass);
    free(c->weight);
    free(c->grad);
}

#endif
