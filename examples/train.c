/* A logistic regression in C whose selection does not follow the mass:
 *     cc train.c $(libmode-config --cflags --libs) -lm -o train && ./train
 * The signal is a peak in mass, the background falls. The second of the two features gives the mass away: without
 * MoDe it gets a weight. The chain rule takes libmode's gradient, which is by the scores, to the weights. Whether a
 * search could use the scores of such a training, `libmode report` says (docs/report.md). */
#include <math.h>
#include <mode.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 20000, STEPS = 500 };
static double feature[EVENTS], mass_like[EVENTS], mass[EVENTS], score[EVENTS], by_score[EVENTS];
static int32_t label[EVENTS]; /* 1: signal, 0: background */

static double uniform(void) { return (rand() + 0.5) / (RAND_MAX + 1.0); }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

int main(void) {
    for (int i = 0; i < EVENTS; i++) {
        label[i] = i % 2;
        mass[i] = label[i] ? 120 + 10 * normal() : 50 - 60 * log(uniform());
        feature[i] = label[i] + normal();
        mass_like[i] = (mass[i] - 110) / 60 + normal() / 2;
    }

    mode_handle *m = mode_new("order=0"); /* the score of background shall not depend on mass at all */
    const mode_events events = {sizeof events, EVENTS, MODE_FLOAT64, .score = score, .mass = mass, .label = label};
    mode_result found = {.size = sizeof found};
    for (double strength = 0; strength <= 10; strength += 10) {
        double a = 0, b = 0, c = 0;
        for (int step = 0; step < STEPS; step++) {
            for (int i = 0; i < EVENTS; i++) score[i] = 1 / (1 + exp(-(a * feature[i] + b * mass_like[i] + c)));
            if (mode_loss(m, &events, &found, by_score)) return fprintf(stderr, "%s\n", mode_last_error()), 1;
            double by_a = 0, by_b = 0, by_c = 0; /* of cross entropy + strength * MoDe */
            for (int i = 0; i < EVENTS; i++) {
                const double s = score[i], by_logit = (s - label[i]) / EVENTS + strength * by_score[i] * s * (1 - s);
                by_a += by_logit * feature[i];
                by_b += by_logit * mass_like[i];
                by_c += by_logit;
            }
            a -= 0.3 * by_a, b -= 0.3 * by_b, c -= 0.3 * by_c;
        }
        printf("strength %2g: MoDe %.4f, weight %.2f, of the feature that gives the mass away %.2f\n", strength, found.loss, a, b);
    }
    mode_free(m);
    return 0;
}
