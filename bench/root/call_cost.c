#define _POSIX_C_SOURCE 199309L
#include "call_cost.h"

int main(void) { return call_cost(); }
