/*
 * The modules of a profile or a process: the source of their symbols, what is
 * missing, and how to get it.
 */
#ifndef PROF_DOCTOR_MODULE_LIST_H
#define PROF_DOCTOR_MODULE_LIST_H

#include "doctor/finding.h"
#include "profile/profile.h"
#include "profile/runtime.h"
#include "symbol/symbolizer.h"

struct listed_module {
	enum profile_module_kind kind;
	char *path;
	char *build_id; /* hexadecimal; "" if unknown */
	/* Number of samples with a frame of the module. */
	uint64_t samples;
	uint64_t unnamed;    /* samples with an unsymbolized frame of the module */
	uint64_t lineless;   /* samples with a frame that has a symbol but no line */
	uint64_t placeless;  /* samples whose innermost frame has no line */
	uint64_t size_bytes; /* size of its code in a process */

	bool is_read; /* its sources are known: */
	struct name_sources sources;
	char *debug_file;     /* of sources */
	char *problem;	      /* reported by the symbolizer; NULL means none */
	bool is_kept;	      /* it comes from a profile, in which symbols are final */
	bool is_complete;     /* its file now has symbols and lines that the profile lacks */
	bool is_here;	      /* the file exists at its path on this machine */
	enum runtime runtime; /* that compiles the code of a PROFILE_MODULE_JIT */
	/*
	 * The package with its debug information; NULL if there is none or it
	 * is unknown.
	 */
	char *package;
	/*
	 * The package is in an archive that the package manager does not know
	 * yet.
	 */
	bool archived;

	/* The advice: */
	enum finding_state state;
	/* Source of the symbols, a static text: "DWARF", "exported symbols". */
	const char *origin;
	char *missing; /* NULL if nothing is missing */
	char *command;
};

struct module_list {
	struct listed_module *items;
	size_t count, room;
	uint64_t samples; /* of all modules; 0 means modules have sizes instead */
	uint64_t unnamed; /* see struct listed_module, for all modules together */
};

/* Returns a module that is zeroed except for the path and the kind. */
struct listed_module *module_list_add(struct module_list *list, enum profile_module_kind kind,
				      const char *path, const char *build_id);
/* Copies the symbolizer's results for a module of its profile. */
void listed_module_set_sources(struct listed_module *module,
			       const struct symbolize_outcome *outcome, uint32_t id);
/*
 * Returns whether the module lacks something and has at least 1 % of the
 * samples. If there are no samples, every module that lacks something matters.
 */
bool module_list_matters(const struct module_list *list, const struct listed_module *module);
/*
 * Returns the runtime of the first module that is one, and the module's path,
 * or RUNTIME_NONE.
 */
enum runtime module_list_runtime(const struct module_list *list, const char **path);
/*
 * Sorts the worst first: by unsymbolized samples, samples without a line, and
 * samples; without samples by state and size.
 */
void module_list_sort(struct module_list *list);
void module_list_deinit(struct module_list *list);

#endif
