#include "doctor/machine_fixes.h"

#include "doctor/machine_findings.h"

#include <errno.h>
#include <string.h>

/* The lowest value of kernel.perf_event_paranoid that a fix sets. */
enum { PARANOID_FIXED = 1 };

static struct permissions permissions_at(int paranoid, const struct permissions *of_caller)
{
	return (struct permissions){
		.user = of_caller->user || paranoid <= 2 ? of_caller->user : EACCES,
		.kernel = paranoid > 1 ? EACCES : 0,
		.cpus = paranoid > 0 ? EACCES : 0,
	};
}

/* Returns the facts as an ordinary user finds them. */
static struct machine_facts facts_of_user(const struct machine_facts *facts)
{
	struct machine_facts user = *facts;

	if (!facts->around.privileged)
		return user;
	user.is_root = user.may_trace = user.may_lock = false;
	user.around.privileged = false;
	user.may = permissions_at(user.around.paranoid, &facts->may);
	return user;
}

/* Moves the findings with a fix, of this subject or of all other subjects. */
static void take_fixes(struct findings *from, const char *subject, bool is_wanted,
		       struct findings *ret)
{
	for (size_t i = 0; i < from->count; i++) {
		struct finding *finding = &from->items[i];

		if (!finding->fix || !strcmp(finding->subject, subject) != is_wanted)
			continue;
		findings_add(ret, finding);
		*finding = (struct finding){0};
	}
	findings_deinit(from);
}

/* Kernel symbols matter only after the kernel may be sampled. */
void machine_fixes(const struct machine_facts *facts, struct findings *ret)
{
	struct machine_facts user = facts_of_user(facts);
	struct findings before, after;

	*ret = (struct findings){0};
	machine_findings(&user, &before);
	if (user.around.paranoid > PARANOID_FIXED) {
		user.around.paranoid = PARANOID_FIXED;
		user.may = permissions_at(PARANOID_FIXED, &(struct permissions){0});
	}
	user.sees_kernel_symbols = user.kptr_restrict == 0;
	machine_findings(&user, &after);
	take_fixes(&before, "sampling", true, ret);
	take_fixes(&after, "sampling", false, ret);
}
