/*
 * Fuzzes a module's DWARF through libdw, with the inputs and the damage of
 * fuzz_elf.c. A crash inside libdw is a bug of elfutils and only ends its
 * symbol worker. This test searches for errors in our calls of it: limits that
 * do not hold, strings without an end.
 */
#define LIBDW_ALONE true
#include "fuzz_elf.c"
