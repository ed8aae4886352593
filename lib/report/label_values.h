/*
 * The labels of samples as text, for conditions and groups.
 *
 * The well-known labels are called comm, thread, pid and tid, as in pprof
 * files. A number is followed by its unit: "65536 bytes".
 */
#ifndef PROF_REPORT_LABEL_VALUES_H
#define PROF_REPORT_LABEL_VALUES_H

#include "base/error.h"
#include "profile/profile.h"

/*
 * Returns the value of a label: its text, or its number and unit. The caller
 * frees it.
 */
char *label_text(const struct profile *profile, const struct profile_label *label);

/* Returns whether the key is comm, thread, pid or tid. */
bool label_is_well_known(const char *key);

/*
 * Fails if no label set of the profile has the key. The hint lists the existing
 * keys. A well-known key is always accepted, also for a profile that is still
 * empty.
 */
MUST_CHECK struct error *label_check_key(const struct profile *profile, const char *key);

/*
 * Clears the entry of each label set that does not satisfy a condition.
 * "KEY=GLOB" requires a value that equals GLOB or matches it as a pattern
 * (glob(7)). "KEY=MIN-MAX" requires a number in this range. "KEY" requires any
 * value. The unit of a number is optional. Fails like label_check_key().
 */
MUST_CHECK struct error *label_filter(const struct profile *profile, const char *condition,
				      bool *label_sets);

/* The value of a key in each label set. Several values are joined: "a, b". */
struct label_values {
	struct strtab *texts;
	string_id *of_set; /* by label set: index in texts; "": no value */
};

/*
 * Fails like label_check_key(). The caller must deinitialize the result even
 * after an error.
 */
MUST_CHECK struct error *label_values_init(struct label_values *values,
					   const struct profile *profile, const char *key);
void label_values_deinit(struct label_values *values);

#endif
