/* An error on its way from Go to mode.c. */
#ifndef MODE_CALL_H
#define MODE_CALL_H

#include "private.h"

enum { MESSAGE_SIZE = 1024 };

/* The message of mode_last_error(), and its parts. */
typedef struct failure {
    char text[MESSAGE_SIZE];
    mode_error parts;
} failure;

#endif
