// mode.h compiles as C++11 and its functions link from there.
#include "mode.h"

int main() {
    mode_options options;
    return mode_options_init(&options, sizeof options) || mode_abi_version() != MODE_ABI_VERSION;
}
