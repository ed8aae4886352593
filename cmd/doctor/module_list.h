/* The modules of a profile or a process: what names each, what is missing, and what brings it. */
#ifndef PROF_CMD_DOCTOR_MODULE_LIST_H
#define PROF_CMD_DOCTOR_MODULE_LIST_H

#include "cmd/doctor/finding.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/* Which program compiles code at run time. */
enum jit {
	JIT_UNKNOWN,
	JIT_NODE,
	JIT_PYTHON,
	JIT_JAVA,
	JIT_DOTNET,
	JIT_RUBY,
	JIT_ERLANG,
};

/* The jit whose program or library is called so; JIT_UNKNOWN: none. */
enum jit jit_of_path(const char *path);

struct listed_module {
	enum profile_module_kind kind;
	char *path;
	char *build_id; /* hex; "": unknown */
	/* Numbers of samples with a frame of the module … */
	uint64_t samples;
	uint64_t unnamed;    /* … with one that has no name … */
	uint64_t lineless;   /* … with one that has a name, but no line */
	uint64_t placeless;  /* … that has no line where the sample was taken */
	uint64_t size_bytes; /* of its code in a process */

	bool is_read; /* its sources are known: */
	struct name_sources sources;
	char *debug_file; /* of sources */
	char *problem;	  /* of the symbolizer; NULL: none */
	bool is_kept;	  /* a profile of it is read, in which names are final … */
	bool is_complete; /* … but its file would now give names and lines that it lacks */
	bool is_here;	  /* the file is at its path on this machine */
	enum jit jit;	  /* PROFILE_MODULE_JIT */
	char *package;	  /* the package with its debug information; NULL: none, or unknown */
	bool archived;	  /* which the package manager does not know yet */

	/* The advice: */
	enum finding_state state;
	const char *origin; /* static: what names it: "DWARF", "exported symbols" */
	char *missing;	    /* NULL: nothing */
	char *command;
};

struct module_list {
	struct listed_module *items;
	size_t count, room;
	uint64_t samples; /* of all modules; 0: modules have sizes instead */
	uint64_t unnamed; /* as in a module, of all of them */
};

/* Zeroed but for the path and the kind. */
struct listed_module *module_list_add(struct module_list *list, enum profile_module_kind kind,
				      const char *path, const char *build_id);
/* Takes over what the symbolizer found out about a module of its profile. */
void listed_module_set_sources(struct listed_module *module,
			       const struct symbolize_outcome *outcome, uint32_t id);
/* Whether it lacks something and has so much of the samples (1 %) that it matters; without samples
 * any that lacks something does. */
bool module_list_matters(const struct module_list *list, const struct listed_module *module);
/* The worst first: by samples without a name, without a line, by samples; or by state and size. */
void module_list_sort(struct module_list *list);
void module_list_deinit(struct module_list *list);

#endif
