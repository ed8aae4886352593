/*
 * Converts the functions and locations of a pprof profile to frames. A location
 * is an address with its function and the functions inlined there. Functions
 * that no location uses are not added to the profile.
 */
#ifndef PROF_FORMAT_PPROF_LOCATIONS_H
#define PROF_FORMAT_PPROF_LOCATIONS_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/pprof/id_table.h"
#include "format/pprof/modules.h"
#include "format/pprof/prune.h"
#include "format/pprof/strings.h"
#include "profile/profile.h"

struct pprof_locations_function {
	struct profile_function of;
	function_id id;	 /* IDMAP_NONE if not used yet */
	bool is_dropped; /* by drop_frames; valid if the function is used */
};

struct pprof_locations {
	struct profile *profile;
	struct pprof_strings *strings;
	struct pprof_modules *modules;
	struct pprof_prune *prune; /* gets the locations that drop_frames removes */
	struct id_table frames;	   /* by location */

	struct pprof_locations_function *functions;
	uint32_t function_count, function_room;
	struct id_table function_ids;

	struct profile_line *lines; /* of the current location */
	uint32_t line_count, line_room;
	uint32_t dropped_count; /* number of these lines that are dropped, innermost first */
};

/* The counts are the expected numbers. All pointers are borrowed. */
void pprof_locations_init(struct pprof_locations *locations, struct pprof_strings *strings,
			  struct pprof_modules *modules, struct pprof_prune *prune,
			  uint64_t function_count, uint64_t location_count);
void pprof_locations_deinit(struct pprof_locations *locations);

/* These take the encoded message. Functions and mappings come before locations. */
MUST_CHECK struct error *pprof_locations_add_function(struct pprof_locations *locations,
						      struct bytes message);
MUST_CHECK struct error *pprof_locations_add(struct pprof_locations *locations,
					     struct bytes message);

/* Returns the size of the tables in bytes. */
static inline size_t pprof_locations_memory_bytes(const struct pprof_locations *locations)
{
	return locations->function_count * sizeof(*locations->functions) +
	       id_table_memory_bytes(&locations->function_ids) +
	       id_table_memory_bytes(&locations->frames);
}

#endif
