/*
 * call.h - a call that is accepted, which tests spoil, and what they say of errors.
 */
#ifndef CALL_H
#define CALL_H

#include <math.h>

#include "check.h"

enum { N = 64, LIMIT = 60 /* seconds, after which a hang is a failure */ };

typedef struct {
    const char *options;
    double score[N], mass[N], weight[N];
    int32_t label[N];
} call;

/* The same events in float. */
typedef struct {
    float score[N], mass[N], weight[N];
    mode_events events;
} single;

static inline call good(void) {
    call c;
    memset(&c, 0, sizeof c);
    c.options = "bins=4";
    for (int i = 0; i < N; i++) {
        c.score[i] = (37 * i % N + 0.5) / (double)N;
        c.mass[i] = i;
        c.weight[i] = 1;
    }
    return c;
}

/* The events of a call, good while that lives. */
static inline mode_events events_of(call *c) {
    mode_events e;
    memset(&e, 0, sizeof e);
    e.size = sizeof e, e.n = N, e.dtype = MODE_FLOAT64;
    e.score = c->score, e.mass = c->mass, e.weight = c->weight, e.label = c->label;
    return e;
}

static inline void set_single(single *s, call *c) {
    for (int i = 0; i < N; i++) {
        s->score[i] = (float)c->score[i];
        s->mass[i] = (float)c->mass[i];
        s->weight[i] = (float)c->weight[i];
    }
    s->events = events_of(c);
    s->events.dtype = MODE_FLOAT32;
    s->events.score = s->score, s->events.mass = s->mass, s->events.weight = s->weight;
}

/* A handle for good options. */
static inline mode_handle *handle_of(const char *options) {
    mode_handle *m = mode_new(options);
    CHECK(m, "%s: %s", options, mode_last_error());
    return m;
}

/* A result in which nothing is wanted but the loss. */
static inline mode_result begun(void) {
    mode_result r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    return r;
}

/* The status of the loss of a call. */
static inline int evaluate(call *c, double *loss, double *grad) {
    const mode_events e = events_of(c);
    mode_handle *m = handle_of(c->options);
    mode_result r = begun();
    const int status = mode_loss(m, &e, &r, grad);
    if (!status) *loss = r.loss;
    mode_free(m);
    return status;
}

static inline double loss_of(call *c) {
    double loss = NAN;
    const int status = evaluate(c, &loss, NULL);
    CHECK(status == MODE_OK, "%s", mode_last_error());
    return loss;
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

/* A handle is not made of such options. */
static inline void expect_no_handle(const char *options, const char *parts) {
    mode_handle *m = mode_new(options);
    CHECK(!m, "%s are good", options);
    check_message(options, parts);
    mode_free(m);
}

#endif
