#include "symbol/function_starts.h"

#include "base/alloc.h"
#include "unwind/cfi.h"

struct function_starts {
	struct cfi *cfi;
};

static const struct arch *function_starts_arch_of(const struct elf_file *elf)
{
	switch (elf_file_machine(elf)) {
	case EM_X86_64:
		return &arch_x86_64;
	case EM_386:
		return &arch_i386;
	case EM_AARCH64:
		return &arch_aarch64;
	default:
		return NULL;
	}
}

struct function_starts *function_starts_new(struct elf_file *elf, const atomic_bool *cancel)
{
	const struct arch *arch = function_starts_arch_of(elf);
	struct function_starts *starts;

	if (!arch)
		return NULL;
	starts = xcalloc(1, sizeof(*starts));
	starts->cfi = cfi_new(elf, arch);
	cfi_index(starts->cfi, cancel);
	return starts;
}

void function_starts_free(struct function_starts *starts)
{
	if (!starts)
		return;
	cfi_free(starts->cfi);
	free(starts);
}

bool function_starts_find(const struct function_starts *starts, uint64_t vaddr, uint64_t *start,
			  uint64_t *end)
{
	return cfi_function(starts->cfi, vaddr, start, end);
}
