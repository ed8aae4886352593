/*
 * Converts the mappings of a pprof profile to modules. Consecutive mappings of
 * one file are segments of one module, unless they share a page. The file of
 * the first mapping is the main program.
 */
#ifndef PROF_FORMAT_PPROF_MODULES_H
#define PROF_FORMAT_PPROF_MODULES_H

#include "format/pprof/id_table.h"
#include "profile/profile.h"

/* The module of locations without a mapping. */
#define PPROF_NO_MAPPING 0

/* A mapping of the file. The first members are its fields. */
struct pprof_source {
	uint64_t start, limit, offset;
	string_id path, build_id;
	uint32_t module;
	uint32_t
		/*
		 * The module of addresses that are not between start and limit,
		 * if there are any.
		 */
		outside;
};

struct pprof_modules {
	struct profile *profile;
	struct pprof_source *mappings;
	uint32_t count, room;
	struct id_table ids; /* by id of the mapping */
	uint32_t module_count;
	/*
	 * The modules of a profile that files are added to
	 * (profile/transfer.h), or NULL.
	 */
	struct idmap *shared;
};

/* count: the expected number of mappings. profile and shared are borrowed. */
void pprof_modules_init(struct pprof_modules *modules, struct profile *profile,
			struct idmap *shared, uint64_t count);
void pprof_modules_deinit(struct pprof_modules *modules);

/* Returns false if a mapping with this id exists. */
bool pprof_modules_add(struct pprof_modules *modules, uint64_t id,
		       const struct pprof_source *mapping);
/*
 * Sets profile_module.source_user of the module of a mapping, if the mapping
 * exists.
 */
void pprof_modules_set_source_user(struct pprof_modules *modules, uint64_t id, uid_t user);
/* Describes the modules in the profile. Call it after adding all mappings. */
void pprof_modules_define(struct pprof_modules *modules);

/*
 * Returns the total size in bytes, including their descriptions in the profile.
 */
static inline size_t pprof_modules_memory_bytes(const struct pprof_modules *modules)
{
	return modules->count * (sizeof(*modules->mappings) + sizeof(struct profile_module) +
				 sizeof(struct profile_segment)) +
	       id_table_memory_bytes(&modules->ids);
}

struct pprof_place {
	uint32_t module;
	uint64_t offset;
};

/*
 * Returns the module and offset of an address. An unknown mapping id means no
 * mapping, like in pprof.
 */
struct pprof_place pprof_modules_place(struct pprof_modules *modules, uint64_t mapping_id,
				       uint64_t address);

#endif
