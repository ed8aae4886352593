/*
 * Maps kernel addresses to modules of kind MODULE_KERNEL: the kernel itself
 * ("[kernel.kallsyms]") and its loadable modules ("[nf_conntrack]").
 *
 * For the running kernel, /proc/modules is read at the first lookup. It is read
 * again, at most once per second, when a pc is outside all known code, because
 * modules can be loaded during the recording. Without the privilege to see
 * addresses, all code belongs to the kernel itself. A recording contains
 * mappings of process -1, as perf writes them: "[kernel.kallsyms]_text", whose
 * offset is the address of that symbol, and ".../nf_conntrack.ko.xz" or
 * "[nf_conntrack]".
 *
 * The kernel's size of a module includes its data, which since Linux 6.4 is
 * elsewhere. A pc is assigned to the last module that starts before it, so code
 * after a module (a BPF program) can be taken for a part of it.
 */
#ifndef PROF_PROC_KERNEL_MAP_H
#define PROF_PROC_KERNEL_MAP_H

#include "base/cleanup.h"
#include "proc/module.h"

/* A range of code with its own load address. */
struct kernel_range {
	uint64_t start, end;
	module_id module;
	/* Name of the module ("nf_conntrack"), or "" for the kernel itself. */
	char *name;
	char *file;		  /* file of the module, as recorded; NULL if unknown */
	const char *symbol;	  /* for the kernel itself: "_text" or "_stext" */
	uint64_t symbol_address;  /* address of `symbol` */
	struct build_id build_id; /* as recorded; len is 0 if unknown */
};

struct kernel_map;

/*
 * `root` is "" for the running kernel, a directory with proc/ and sys/ for
 * tests, or NULL for another kernel. Borrows `modules`.
 */
struct kernel_map *kernel_map_new(const char *root, struct modules *modules);
void kernel_map_free(struct kernel_map *map);
DEFINE_CLEANUP(kernel_map, kernel_map_free)

/*
 * Adds a mapping of a recording. Ignores all but those of the kernel and its
 * modules.
 */
void kernel_map_add(struct kernel_map *map, const struct mapping *mapping);
/*
 * Adds code that a recording names: a BPF program or a trampoline. It belongs
 * to no module. After it is unloaded, it keeps its name until other code is
 * loaded there.
 */
void kernel_map_add_symbol(struct kernel_map *map, uint64_t start, uint64_t len, const char *name);
/* Returns NULL if there is none. */
const char *kernel_map_symbol(const struct kernel_map *map, uint64_t pc);
module_id kernel_map_find(struct kernel_map *map, uint64_t pc);
/* Returns the range of a module, or NULL if unknown. */
const struct kernel_range *kernel_map_range(struct kernel_map *map, module_id module);
/* Returns the `root` of kernel_map_new(). */
const char *kernel_map_root(const struct kernel_map *map);

#endif
