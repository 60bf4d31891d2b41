/*
 * The shortest time of a call of mode_loss_grad_f32 with a million events, in
 * milliseconds: the same code for call_cost.c, compiled, and macro.C, interpreted.
 */
#include <mode.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { events = 1000000, calls = 20 };

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int call_cost(void) {
    float *score = (float *)malloc(events * sizeof *score), *mass = (float *)malloc(events * sizeof *mass);
    float *grad = (float *)malloc(events * sizeof *grad);
    double loss, shortest = 1e9;
    if (!score || !mass || !grad) return 1;
    srand(1);
    for (int i = 0; i < events; i++) {
        score[i] = (float)rand() / (float)RAND_MAX;
        mass[i] = (float)rand() / (float)RAND_MAX;
    }
    for (int k = 0; k < calls; k++) {
        double start = milliseconds();
        if (mode_loss_grad_f32(NULL, events, score, mass, NULL, NULL, &loss, grad)) {
            fprintf(stderr, "%s\n", mode_last_error());
            return 1;
        }
        double took = milliseconds() - start;
        if (took < shortest) shortest = took;
    }
    printf("ms %.3f\n", shortest);
    free(score);
    free(mass);
    free(grad);
    return 0;
}
