#include "symbol/jitdump_code.h"

#include "base/alloc.h"
#include "proc/jitdump_format.h"

#include <elf.h>

struct head {
	Elf64_Ehdr file;
	Elf64_Phdr segment;
};

static struct head jitdump_code_head_of(uint16_t machine, const struct jitdump_function *function)
{
	const uint64_t size_bytes = function->end - function->start;

	return (struct head){
		.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = machine,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_offset = sizeof(struct head),
			    .p_vaddr = function->start,
			    .p_filesz = size_bytes,
			    .p_memsz = size_bytes,
			    .p_align = 1},
	};
}

struct error *jitdump_code_elf(struct bytes jitdump, const struct jitdump_function *function,
			       struct elf_file **ret)
{
	struct bytes code = bytes_at(jitdump, function->start);
	const char *name = function->name ? function->name : "";
	CLEANUP(free_ptr) unsigned char *file = NULL;
	struct jitdump_header header;
	struct head head;

	code = bytes_sub(&code, function->end - function->start);
	if (!bytes_ok(&code) || !jitdump_read_header(jitdump, &header))
		return error_new("the code of %s is missing at the end", name);
	head = jitdump_code_head_of((uint16_t)header.machine, function);
	file = xmalloc(sizeof(head) + bytes_left(&code));
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), code.at, bytes_left(&code));
	return elf_file_from_memory(file, sizeof(head) + bytes_left(&code), name, ret);
}
