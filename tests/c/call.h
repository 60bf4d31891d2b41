/*
 * call.h - a call that is accepted, which tests spoil, and what they say of errors.
 */
#ifndef CALL_H
#define CALL_H

#include <math.h>

#include "check.h"

enum { N = 64, LIMIT = 60 /* seconds, after which a hang is a failure */ };

typedef struct {
    mode_options options;
    size_t n;
    double score[N], mass[N], weight[N], edges[4];
    int32_t label[N], background[2];
} call;

static inline call good(void) {
    call c;
    memset(&c, 0, sizeof c);
    mode_options_init(&c.options, sizeof c.options);
    c.options.bins = 4;
    c.n = N;
    for (int i = 0; i < N; i++) {
        c.score[i] = (37 * i % N + 0.5) / (double)N;
        c.mass[i] = i;
        c.weight[i] = 1;
    }
    return c;
}

static inline double loss_of(const call *c) {
    double loss = NAN;
    int status = mode_loss_f64(&c->options, c->n, c->score, c->mass, c->weight, c->label, MODE_LABEL_INT32, &loss);
    CHECK(status == MODE_OK, "%s", mode_last_error());
    return loss;
}

static inline void give_edges(call *c, double last) {
    c->edges[1] = 10;
    c->edges[2] = last;
    c->options.binning = MODE_BINNING_EDGES;
    c->options.edges = c->edges;
    c->options.n_edges = 3;
}

static inline void give_labels(call *c, size_t n) {
    c->options.background_label = c->background;
    c->options.n_background_label = n;
}

/* The message must hold each of the parts, which "|" separates. */
static inline void check_message(const char *what, const char *parts) {
    char copy[512];
    const char *message = mode_last_error();
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *part = strtok(copy, "|"); part; part = strtok(NULL, "|"))
        CHECK(strstr(message, part), "%s: no \"%s\" in \"%s\"", what, part, message);
}

static inline void expect(const char *what, int status, int want, const char *parts) {
    CHECK(status == want, "%s: status %d, want %d", what, status, want);
    check_message(what, parts);
}

#endif
