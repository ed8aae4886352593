/* Fuzzes paths of cgroups. Names must be parts of the text, in order, and the
 * search must end. */
#include "proc/cgroup_name.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) char *path = xstrndup((const char *)data, size);
	size_t len = strlen(path), at = 0, before = 0;
	struct cgroup_name name;

	while (cgroup_name_next(path, &at, &name)) {
		if (at <= before || at > len || name.end != at ||
		    strlen(name.text) >= CGROUP_NAME_MAX || (name.kind != CGROUP_ID && !*name.text))
			abort();
		if (strlen(name.text) >= 4 && !cgroup_name_is(&name, name.text))
			abort();
		before = at;
	}
	if (cgroup_name_of(path, &name) && (!before || strlen(name.text) >= CGROUP_NAME_MAX))
		abort();
	return 0;
}
