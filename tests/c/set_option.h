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

/* What options point to. It must live as long as they do, and begin with 0 as `used`. */
typedef struct {
    double numbers[1024];
    size_t used; /* of these numbers */
    int32_t labels[8];
    mode_variable variables[3];
} option_room;

/* The next word of a text, NULL at its end; `rest` is where to go on. */
static inline char *next_word(char **rest) {
    char *word = *rest + strspn(*rest, " \n");
    size_t length = strcspn(word, " \n");
    if (!length) return NULL;
    *rest = word + length;
    if (**rest) *(*rest)++ = '\0';
    return word;
}

/* The numbers up to the next word that is none, NULL if there are none; they go to the room. */
static inline const double *next_numbers(char **rest, option_room *room, size_t *count) {
    const double *first = room->numbers + room->used;
    for (*count = 0;; (*count)++) {
        char *end;
        const double value = strtod(*rest, &end);
        if (end == *rest) return *count ? first : NULL;
        if (room->used == sizeof room->numbers / sizeof *room->numbers) abort();
        room->numbers[room->used++] = value;
        *rest = end;
    }
}

static inline void set_range(double *range, const double *ends, size_t count) {
    range[0] = count == 2 ? ends[0] : -INFINITY;
    range[1] = count == 2 ? ends[1] : INFINITY;
}

/* Sets the room's variables, which "," separates, and returns how many there are. */
static inline size_t set_variables(char *text, option_room *room) {
    mode_variable *variable = room->variables;
    char *name;
    mode_variable_init(variable, sizeof *variable);
    while ((name = next_word(&text))) {
        size_t count;
        const double *numbers;
        if (!strcmp(name, ",")) {
            if (++variable == room->variables + 3) abort();
            mode_variable_init(variable, sizeof *variable);
            continue;
        }
        numbers = next_numbers(&text, room, &count);
        if (!strcmp(name, "bins")) variable->bins = (int32_t)numbers[0];
        if (!strcmp(name, "mass_range")) set_range(variable->mass_range, numbers, count);
        if (!strcmp(name, "edges")) variable->edges = numbers, variable->n_edges = count;
        if (!strcmp(name, "knots")) variable->knots = numbers, variable->n_knots = count;
    }
    return (size_t)(variable - room->variables) + 1;
}

static inline int32_t value_of(const mode_option *option, const char *word) {
    for (size_t k = 0; k < option->n_values; k++)
        if (!strcmp(word, option->values[k])) return (int32_t)k;
    return (int32_t)strtol(word, NULL, 10);
}

/*
 * Sets the option `name` to the words of `text`, which this writes to; "none" is the
 * value for "not given" or "no limit". Of variables the words are "bins 4 , bins 3
 * mass_range 0 1", say. Returns 0 if there is no such option.
 */
static inline int set_option(mode_options *options, const char *name, char *text, option_room *room) {
    mode_option option;
    size_t k = 0, count = 0;
    const double *numbers;
    const void *list;
    char *at;
    do {
        if (mode_option_at(k++, &option)) return 0;
    } while (strcmp(option.name, name));
    at = (char *)options + option.offset;
    list = numbers = next_numbers(&text, room, &count);
    switch (option.kind) {
        case MODE_KIND_CHOICE: *(int32_t *)(void *)at = value_of(&option, next_word(&text)); return 1;
        case MODE_KIND_NUMBER: *(double *)(void *)at = count ? numbers[0] : option.none; return 1;
        case MODE_KIND_RANGE: set_range((double *)(void *)at, numbers, count); return 1;
        case MODE_KIND_NUMBERS: break;
        case MODE_KIND_LABELS:
            for (size_t i = 0; i < count; i++) room->labels[i] = (int32_t)numbers[i];
            list = room->labels;
            break;
        case MODE_KIND_VARIABLES:
            count = set_variables(text, room);
            list = room->variables;
            break;
        default: *(int32_t *)(void *)at = (int32_t)(count ? numbers[0] : option.none); return 1;
    }
    *(const void **)(void *)at = list;
    *(size_t *)(void *)(at + sizeof list) = count;
    return 1;
}

#endif
