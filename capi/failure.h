/* An error on its way from Go to mode_last_error(): its message, and the parts of the message. */
#ifndef MODE_FAILURE_H
#define MODE_FAILURE_H

#include "mode.h"

enum { MESSAGE_SIZE = 1024 };

typedef struct failure {
    char text[MESSAGE_SIZE];
    mode_error parts;
} failure;

#endif
