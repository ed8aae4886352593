/*
 * The labels of samples as text, for conditions and groups.
 *
 * The well-known labels are called comm, thread, pid and tid, as in pprof files. A number is
 * written with its unit: "65536 bytes".
 */
#ifndef PROF_REPORT_LABEL_VALUES_H
#define PROF_REPORT_LABEL_VALUES_H

#include "base/error.h"
#include "profile/profile.h"

/* The value of a label: its text, or its number and unit. To be freed. */
char *label_text(const struct profile *profile, const struct profile_label *label);

/* comm, thread, pid or tid. */
bool label_is_well_known(const char *key);

/*
 * Fails if no label set of the profile has the key; the hint lists the keys that there are. A
 * well-known key needs no label set, so that it can be asked of a profile that is still empty.
 */
MUST_CHECK struct error *label_check_key(const struct profile *profile, const char *key);

/*
 * Clears the entry of each label set that does not meet a condition. The condition is "KEY=GLOB":
 * one of the label's values is equal to GLOB or matches it as a pattern (glob(7)); or "KEY": the
 * label has a value. The unit of a number is optional. Fails as label_check_key() does.
 */
MUST_CHECK struct error *label_filter(const struct profile *profile, const char *condition,
				      bool *label_sets);

/* The value that each label set has of a key. Several are one: "a, b". */
struct label_values {
	struct strtab *texts;
	string_id *of_set; /* by label set: in texts; "": no value */
};

/* Fails as label_check_key() does. The result must be deinitialized even then. */
MUST_CHECK struct error *label_values_init(struct label_values *values,
					   const struct profile *profile, const char *key);
void label_values_deinit(struct label_values *values);

#endif
