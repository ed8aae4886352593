/*
 * Where the locations of a pprof profile are: its mappings, as modules of a profile. Mappings of
 * one file that follow each other are segments of one module, unless they share a page; the file of
 * the first mapping is the main program.
 */
#ifndef PROF_FORMAT_PPROF_MODULES_H
#define PROF_FORMAT_PPROF_MODULES_H

#include "format/id_table.h"
#include "profile/profile.h"

/* The module of locations without a mapping. */
#define PPROF_NO_MAPPING 0

/* The first four as they are in the file. */
struct pprof_source {
	uint64_t start, limit, offset;
	string_id path, build_id;
	uint32_t module;
	uint32_t outside; /* the module of addresses beyond start and limit, once there are some */
};

struct pprof_modules {
	struct profile *profile;
	struct pprof_source *mappings;
	uint32_t count, room;
	struct id_table ids; /* of mappings */
	uint32_t module_count;
};

/* count: of the mappings that are expected. profile is borrowed. */
void pprof_modules_init(struct pprof_modules *modules, struct profile *profile, uint64_t count);
void pprof_modules_deinit(struct pprof_modules *modules);

/* False when there is a mapping of this id already. */
bool pprof_modules_add(struct pprof_modules *modules, uint64_t id,
		       const struct pprof_source *mapping);
/* Once all are there: describes the modules. */
void pprof_modules_define(struct pprof_modules *modules);

struct pprof_place {
	uint32_t module;
	uint64_t offset;
};

/* An id that is not there is taken for no mapping, as by pprof. */
struct pprof_place pprof_modules_place(struct pprof_modules *modules, uint64_t mapping_id,
				       uint64_t address);

#endif
