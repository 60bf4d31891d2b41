/* The plain loss of many events by its definition, in long double: J is computed anew at every event.
 *
 * Events come in the order of their scores, with the numbers of their bins and their weights, integers whose sums
 * long double holds exactly. Of equal scores the last counts: the gap to the next is 0 before it.
 * P and A are of shape (size, bins), row by row. */
#include <stdint.h>
#include <stdlib.h>

long double plain_loss(int64_t n, const double *score, const uint8_t *bin, const int64_t *weight, int bins,
                       int size, const long double *P, const long double *A, const int64_t *total)
{
    int64_t *below = calloc(bins, sizeof *below);
    long double *F = calloc(bins + size, sizeof *F), *c = F + bins, loss = 0;
    for (int64_t i = 0; i < n; i++) {
        int own = bin[i];
        below[own] += weight[i];
        F[own] = (long double)below[own] / total[own];
        for (int l = 0; l < size; l++) {
            c[l] = 0;
            for (int b = 0; b < bins; b++)
                c[l] += A[l * bins + b] * F[b];
        }
        long double J = 0;
        for (int b = 0; b < bins; b++) {
            long double residual = F[b];
            for (int l = 0; l < size; l++)
                residual -= c[l] * P[l * bins + b];
            J += residual * residual;
        }
        loss += J * ((i + 1 < n ? score[i + 1] : 1) - (long double)score[i]);
    }
    free(F);
    free(below);
    return loss / bins;
}
