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
    option_room room;
    size_t n, n_mass;
    double loss;
    double *score, *mass[3], *weight, *grad; /* weight: NULL if there are none */
    int32_t *label;                          /* NULL: none */
    int64_t *category;                       /* NULL: none */
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

/* The only number of a line. */
static inline double read_number(FILE *file, const char *name) {
    char *rest = next_line(file, name);
    return strtod(next_word(&rest), NULL);
}

/* Returns the integers of a line, NULL if it has none. */
static inline int64_t *read_integers(FILE *file, const char *name, size_t *n) {
    double *values = read_numbers(file, name, n);
    int64_t *integers = values ? (int64_t *)malloc(*n * sizeof *integers) : NULL;
    if (values && !integers) abort();
    for (size_t i = 0; i < *n; i++) integers[i] = (int64_t)values[i];
    free(values);
    return integers;
}

static inline int32_t *read_labels(FILE *file) {
    size_t n;
    int64_t *integers = read_integers(file, "label", &n);
    int32_t *labels = integers ? (int32_t *)malloc(n * sizeof *labels) : NULL;
    if (integers && !labels) abort();
    for (size_t i = 0; i < n; i++) labels[i] = (int32_t)integers[i];
    free(integers);
    return labels;
}

/* Returns 0 at the end of the file. */
static inline int read_case(FILE *file, golden_case *c) {
    size_t n;
    char *rest = next_line(file, "case");
    if (!rest) return 0;
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", next_word(&rest));
    mode_options_init(&c->options, sizeof c->options);
    while ((rest = next_line(file, "option"))) {
        const char *name = next_word(&rest);
        if (set_option(&c->options, name, rest, &c->room)) continue;
        fprintf(stderr, "%s: libmode has no option %s\n", c->name, name);
        exit(EXIT_FAILURE);
    }
    c->loss = read_number(file, "loss");
    c->score = read_numbers(file, "score", &c->n);
    c->n_mass = (size_t)read_number(file, "n_mass");
    for (size_t k = 0; k < c->n_mass; k++) c->mass[k] = read_numbers(file, "mass", &n);
    c->weight = read_numbers(file, "weight", &n);
    c->label = read_labels(file);
    c->category = read_integers(file, "category", &n);
    c->grad = read_numbers(file, "grad", &n);
    return 1;
}

/* The events of a case; their masses are at the addresses in `masses`. */
static inline mode_events events_of(const golden_case *c, const void *score, const void *const *masses, const void *weight) {
    mode_events events;
    mode_events_init(&events, sizeof events);
    events.n = c->n;
    events.score = score;
    events.mass = masses;
    events.n_mass = c->n_mass;
    events.weight = weight;
    events.label = c->label;
    events.category = c->category;
    events.label_type = MODE_LABEL_INT32;
    events.category_type = MODE_LABEL_INT64;
    return events;
}

static inline void free_case(golden_case *c) {
    free(c->score);
    for (size_t k = 0; k < c->n_mass; k++) free(c->mass[k]);
    free(c->weight);
    free(c->label);
    free(c->category);
    free(c->grad);
}

#endif
