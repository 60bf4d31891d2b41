R__ADD_INCLUDE_PATH($LIBMODE/include)
R__LOAD_LIBRARY($LIBMODE/lib/libmode.so)
#include "call_cost.h"

int macro() { return call_cost(); }
