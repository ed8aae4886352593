/*
 * Asks the symbolizer what it finds for modules that no symbolizer has just been asked about: those
 * of a process, and those of a profile that names came with. Files are parsed by symbol workers.
 */
#ifndef PROF_CMD_DOCTOR_MODULE_PROBE_H
#define PROF_CMD_DOCTOR_MODULE_PROBE_H

#include "cmd/doctor/module_list.h"
#include "cmd/input.h"

/* Lists the executable modules that a process maps now, with their sources. Paths are below its
 * root. */
void module_probe_process(pid_t pid, const struct symbol_options *options, struct module_list *ret);

/*
 * Looks for the files of a profile's modules as convert does for a recording and sets their
 * sources. rows: of module_weights().
 */
void module_probe_profile(const struct profile *profile, const uint32_t *rows,
			  const struct input_options *options, struct module_list *list);

#endif
