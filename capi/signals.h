/* The handlers of signals of the process that loaded the library. */
#ifndef SIGNALS_H
#define SIGNALS_H

/* Gives handlers that were set without SA_ONSTACK this flag. */
void move_handlers_off_the_stack(void);

#endif
