/* Prints the diagnosis of prof doctor: the findings and the modules of a
 * machine, a process or a file. */
#ifndef PROF_CMD_DOCTOR_DOCTOR_H
#define PROF_CMD_DOCTOR_DOCTOR_H

#include "cmd/ui/pager.h"
#include "doctor/finding.h"
#include "doctor/module_list.h"

struct diagnosis {
	const char *target; /* the file or the pid as given; NULL for the machine */
	struct findings findings;
	bool has_modules;
	struct module_list modules; /* sorted, with advice */
};

void diagnosis_deinit(struct diagnosis *diagnosis);

/* verbose: print also findings without a problem and those of little weight. */
void doctor_print_text(const struct diagnosis *diagnosis, bool verbose, const struct pager *pager);
void doctor_print_json(const struct diagnosis *diagnosis, FILE *out);

#endif
