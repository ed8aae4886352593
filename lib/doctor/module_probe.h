/*
 * Finds symbols for modules that no symbolizer has processed: those of a
 * process, and those of a profile that already contains symbols. Symbol workers
 * parse the files.
 */
#ifndef PROF_DOCTOR_MODULE_PROBE_H
#define PROF_DOCTOR_MODULE_PROBE_H

#include "doctor/module_list.h"

/*
 * Lists the executable modules that a process currently maps, with their
 * sources. Paths are relative to its root.
 */
void module_probe_process(pid_t pid, const struct symbol_options *options, struct module_list *ret);

/*
 * Searches the files of a profile's modules like convert does for a recording,
 * and sets their sources. rows: the result of module_weights().
 */
void module_probe_profile(const struct profile *profile, const uint32_t *rows, const char *symfs,
			  const struct symbol_options *symbols, struct module_list *list);

#endif
