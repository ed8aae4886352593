#include "push/protocol.h"

#include "format/format.h"
#include "profile/memory_events.h"

#include <string.h>

const struct push_protocol *push_protocol_by_name(const char *name, size_t len)
{
	static const struct push_protocol *const all[] = {&push_otlp, &push_pyroscope, &push_parca,
							  NULL};

	for (const struct push_protocol *const *protocol = all; *protocol; protocol++)
		if (strlen((*protocol)->name) == len && !memcmp((*protocol)->name, name, len))
			return *protocol;
	return NULL;
}

struct error *push_pprof(const struct profile *profile, char **ret, size_t *len)
{
	const struct format_options options = {.event = memory_shown_event(profile)};
	FILE *out = open_memstream(ret, len);
	struct error *err = format_pprof.write(profile, &options, out);

	fclose(out);
	if (err)
		free(STEAL(*ret));
	return err;
}
