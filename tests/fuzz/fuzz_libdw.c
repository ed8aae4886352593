/*
 * A module's DWARF through libdw, with the inputs and the damage of fuzz_elf.c. A fault inside of
 * libdw is one of elfutils, and costs its symbol worker; what this looks for is our calls of it:
 * limits that do not hold, strings that do not end.
 */
#define LIBDW_ALONE true
#include "fuzz_elf.c"
