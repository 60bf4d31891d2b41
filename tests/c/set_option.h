/*
 * set_option.h - sets an option by its name to what a line of text says, for C, C++ and ROOT.
 * Options are those of mode_option_at(); none is known by name here.
 */
#ifndef SET_OPTION_H
#define SET_OPTION_H

#include <math.h>
#include <mode.h>
#include <stdlib.h>
#include <string.h>

/* The next word of a text, NULL at its end; `rest` is where to go on. */
static inline char *next_word(char **rest) {
    char *word = *rest + strspn(*rest, " \n");
    size_t length = strcspn(word, " \n");
    if (!length) return NULL;
    *rest = word + length;
    if (**rest) *(*rest)++ = '\0';
    return word;
}

static inline int32_t value_of(const mode_option *option, const char *word) {
    for (size_t k = 0; k < option->n_values; k++)
        if (!strcmp(word, option->values[k])) return (int32_t)k;
    return (int32_t)strtol(word, NULL, 10);
}

/*
 * Sets the option `name` to the words of `text`, which this writes to; "none" is the
 * value for "not given" or "no limit". The numbers of a list go to `room`, which must
 * hold them and live as long as the options. Returns 0 if there is no such option.
 */
static inline int set_option(mode_options *options, const char *name, char *text, double *room) {
    mode_option option;
    size_t k = 0, count = 0;
    char *at, *word;
    do {
        if (mode_option_at(k++, &option)) return 0;
    } while (strcmp(option.name, name));
    at = (char *)options + option.offset;
    while ((word = next_word(&text))) {
        const int none = !strcmp(word, "none");
        switch (option.kind) {
            case MODE_KIND_NUMBER: *(double *)(void *)at = none ? option.none : strtod(word, NULL); break;
            case MODE_KIND_RANGE:
                ((double *)(void *)at)[count] = none ? -INFINITY : strtod(word, NULL);
                if (none) ((double *)(void *)at)[1] = INFINITY;
                break;
            case MODE_KIND_NUMBERS:
                if (none) return 1;
                room[count] = strtod(word, NULL);
                *(const double **)(void *)at = room;
                *(size_t *)(void *)(at + sizeof(double *)) = count + 1;
                break;
            default: *(int32_t *)(void *)at = none ? (int32_t)option.none : value_of(&option, word);
        }
        count++;
    }
    return 1;
}

#endif
