/*
 * Several threads at once, each with its own results and messages, and a forked
 * child, where every call that computes is an error.
 */
#define _POSIX_C_SOURCE 200809L /* fork, alarm, pthreads */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"

enum { THREADS = 8 };

static void start(pthread_t *thread, void *(*run)(void *), void *job) {
    if (pthread_create(thread, NULL, run, job)) abort();
}

/* -------------------------------------------- calls that use threads of their own */

enum { LARGE = 50000, ROUNDS = 3 };

/* Inputs and options are shared by all threads, outputs are a thread's own. */
static double score[LARGE], mass[LARGE];
static float score_f[LARGE], mass_f[LARGE];

typedef struct {
    mode_options *options;
    double want, want_f, *grad;
    float *grad_f;
    int index, wrong;
} large_job;

static void compute(const mode_options *o, double *loss, double *grad, double *loss_f, float *grad_f) {
    const void *masses[] = {mass}, *masses_f[] = {mass_f};
    mode_result found = {NAN, NAN, NAN}, found_f = found;
    mode_events e;
    mode_events_init(&e, sizeof e);
    e.n = LARGE;
    e.n_mass = 1;
    e.score = score;
    e.mass = masses;
    mode_evaluate_f64(o, &e, &found, grad, NULL);
    e.score = score_f;
    e.mass = masses_f;
    mode_evaluate_f32(o, &e, &found_f, grad_f, NULL);
    *loss = found.loss;
    *loss_f = found_f.loss;
}

static void *work_large(void *argument) {
    large_job *j = argument;
    double *grad = malloc(LARGE * sizeof *grad), loss, loss_f;
    float *grad_f = malloc(LARGE * sizeof *grad_f);
    char part[32];
    if (!grad || !grad_f) abort();
    snprintf(part, sizeof part, "order = %d", 100 + j->index);
    for (int round = 0; round < ROUNDS; round++) {
        call bad = good();
        bad.options.order = 100 + j->index;
        j->wrong += mode_options_check(&bad.options) != MODE_ERROR_OPTION;
        compute(j->options, &loss, grad, &loss_f, grad_f);
        j->wrong += loss != j->want || loss_f != j->want_f || memcmp(grad, j->grad, LARGE * sizeof *grad) ||
                    memcmp(grad_f, j->grad_f, LARGE * sizeof *grad_f) || !strstr(mode_last_error(), part);
    }
    free(grad);
    free(grad_f);
    return NULL;
}

static void test_large_calls(void) {
    pthread_t threads[THREADS];
    large_job jobs[THREADS];
    mode_options options[2];
    double *grad = malloc(2 * LARGE * sizeof *grad), loss[2], loss_f[2];
    float *grad_f = malloc(2 * LARGE * sizeof *grad_f);
    if (!grad || !grad_f) abort();
    for (int i = 0; i < LARGE; i++) {
        score_f[i] = (float)(score[i] = (7919 * i % LARGE + 0.5) / (double)LARGE);
        mass_f[i] = (float)(mass[i] = i % 977 + score[i]);
    }
    for (int k = 0; k < 2; k++) {
        mode_options_init(&options[k], sizeof options[k]);
        options[k].order = k + 1;
        options[k].unbiased = k;
        compute(&options[k], &loss[k], grad + k * LARGE, &loss_f[k], grad_f + k * LARGE);
        CHECK(isfinite(loss[k]) && isfinite(loss_f[k]), "%s", mode_last_error());
    }
    for (int k = 0; k < THREADS; k++) {
        const int o = k % 2;
        jobs[k] = (large_job){&options[o], loss[o], loss_f[o], grad + o * LARGE, grad_f + o * LARGE, k, 0};
        start(&threads[k], work_large, &jobs[k]);
    }
    for (int limit = 1; limit <= 4; limit++) CHECK(!mode_set_threads(limit), "%s", mode_last_error());
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        CHECK(!jobs[k].wrong, "thread %d: %d results differ from those alone, or messages are those of others", k, jobs[k].wrong);
    }
    CHECK(!mode_set_threads(0), "%s", mode_last_error());
    free(grad);
    free(grad_f);
}

/* -------------------------------------------------------------------- fork */

static int in_child(void) {
    call c = good();
    const mode_events e = events_of(&c);
    mode_result found = {-7, -7, -7};
    const int want = MODE_ERROR_FORKED, before = failures;
    expect("init", mode_options_init(&c.options, sizeof c.options), want, "fork()|spawn");
    expect("evaluate", mode_evaluate_f64(NULL, &e, &found, NULL, NULL), want, "fork()");
    expect("set_threads", mode_set_threads(1), want, "fork()");
    CHECK(mode_option_count() == 0 && found.loss == -7, "options in the child, or a loss");
    CHECK(!strcmp(mode_version(), MODE_VERSION), "%s", mode_version());
    return failures - before;
}

static void test_fork(void) {
    call c = good();
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LIMIT); /* not inherited */
        _exit(in_child() != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "the child's wait status is %d", status);
    CHECK(isfinite(loss_of(&c)), "the parent goes on");
}

int main(void) {
    alarm(2 * LIMIT);
    test_large_calls();
    test_fork();
    return finish();
}
