/*
 * The code of a kernel: the kernel itself and its loadable modules, each a module of kind
 * MODULE_KERNEL: "[kernel.kallsyms]", "[nf_conntrack]".
 *
 * Of the running kernel, modules are read from /proc/modules when a pc is first looked up, and
 * again, at most once per second, when a pc is outside of everything known: modules can be loaded
 * while prof records. Without the privilege to see addresses all code is the kernel's. A recording
 * has mappings of process -1 for them, as perf writes them: "[kernel.kallsyms]_text", the offset
 * being the address of that symbol, and files ".../nf_conntrack.ko.xz" or "[nf_conntrack]".
 *
 * The size of a module that the kernel reports includes its data, which since Linux 6.4 is
 * elsewhere. A pc belongs to the last module that begins before it, so a neighbour that is no
 * module (a BPF program) can be taken for a part of one.
 */
#ifndef PROF_PROC_KERNEL_MAP_H
#define PROF_PROC_KERNEL_MAP_H

#include "base/cleanup.h"
#include "proc/module.h"

/* Code with a place of its own. */
struct kernel_range {
	uint64_t start, end;
	module_id module;
	char *name;		  /* of the module: "nf_conntrack"; "": the kernel itself */
	char *file;		  /* of the module, as recorded; NULL: unknown */
	const char *symbol;	  /* of the kernel itself: "_text" or "_stext" … */
	uint64_t symbol_address;  /* … and where it is */
	struct build_id build_id; /* as recorded; len 0: unknown */
};

struct kernel_map;

/*
 * root: "" for the running kernel, or a directory with proc/ and sys/ in it, for tests; NULL: the
 * kernel is another one. modules: borrowed.
 */
struct kernel_map *kernel_map_new(const char *root, struct modules *modules);
void kernel_map_free(struct kernel_map *map);
DEFINE_CLEANUP(kernel_map, kernel_map_free)

/* A mapping of a recording; others than the kernel's and its modules' are ignored. */
void kernel_map_add(struct kernel_map *map, const struct mapping *mapping);
/*
 * Code that a recording names itself: a BPF program, a trampoline. It is of no module, and keeps
 * its name when it is unloaded, until other code is loaded there.
 */
void kernel_map_add_symbol(struct kernel_map *map, uint64_t start, uint64_t len, const char *name);
/* NULL if there is none. */
const char *kernel_map_symbol(const struct kernel_map *map, uint64_t pc);
module_id kernel_map_find(struct kernel_map *map, uint64_t pc);
/* The same, but changes nothing, as for several threads at once. False: kernel_map_find() knows. */
bool kernel_map_find_known(const struct kernel_map *map, uint64_t pc, module_id *ret);
/* Where a module is; NULL if that is not known. */
const struct kernel_range *kernel_map_range(struct kernel_map *map, module_id module);
/* As in kernel_map_new(). */
const char *kernel_map_root(const struct kernel_map *map);

#endif
