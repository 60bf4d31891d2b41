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
    const double *masses[1]; /* set by events_of */
} call;

/* The same events in float. */
typedef struct {
    float score[N], mass[N], weight[N];
    const float *masses[1];
    mode_events_f32 events;
} single;

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

/* The events of a call, good while that lives. */
static inline mode_events_f64 events_of(call *c) {
    mode_events_f64 e;
    memset(&e, 0, sizeof e);
    e.struct_size = sizeof e;
    c->masses[0] = c->mass;
    e.n = c->n;
    e.score = c->score;
    e.mass = c->masses;
    e.n_mass = 1;
    e.weight = c->weight;
    e.label = c->label;
    return e;
}

static inline void set_single(single *s, call *c) {
    for (int i = 0; i < N; i++) {
        s->score[i] = (float)c->score[i];
        s->mass[i] = (float)c->mass[i];
        s->weight[i] = (float)c->weight[i];
    }
    memset(&s->events, 0, sizeof s->events);
    s->masses[0] = s->mass;
    s->events.struct_size = sizeof s->events;
    s->events.n = c->n;
    s->events.n_mass = 1;
    s->events.label = c->label;
    s->events.score = s->score;
    s->events.mass = s->masses;
    s->events.weight = s->weight;
}

static inline int evaluate(call *c, double *loss, double *grad) {
    return mode_loss_f64(&c->options, c->n, c->score, c->label, c->mass, c->weight, loss, grad);
}

static inline double loss_of(call *c) {
    double loss = NAN;
    const int status = evaluate(c, &loss, NULL);
    CHECK(status == MODE_OK, "%s", mode_last_error());
    return loss;
}

/* A struct of 0 with its size. */
#define BEGIN(variable) (memset(&(variable), 0, sizeof(variable)), (variable).struct_size = sizeof(variable))

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
