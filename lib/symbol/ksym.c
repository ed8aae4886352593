#include "symbol/ksym.h"

#include "base/alloc.h"
#include "base/text.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* KSYM_NAME_LEN is 512, and a module's name follows. */
enum { NAME_BYTES = 1024 };

/*
 * BPF_PROG_TYPE_SYSCALL and BPF_FUNC_snprintf are missing in headers older than
 * Linux 5.14.
 */
enum { PROGRAM_TYPE = 31, FUNCTION_SNPRINTF = 165 };

struct ksym {
	int format, name; /* maps with one element: the format "%ps" and the output */
	int program;
};

static int ksym_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static uint64_t address_of(const void *at)
{
	return (uintptr_t)at;
}

static int map_new(uint32_t value_bytes, uint32_t flags)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = value_bytes,
		.max_entries = 1,
		.map_flags = flags,
	};

	return ksym_bpf(BPF_MAP_CREATE, &attr);
}

/* Freezes the map, so that the verifier can read the format. */
static bool map_fix(int map, const void *value)
{
	const uint32_t key = 0;
	union bpf_attr update = {
		.map_fd = (uint32_t)map, .key = address_of(&key), .value = address_of(value)};
	union bpf_attr freeze = {.map_fd = (uint32_t)map};

	return ksym_bpf(BPF_MAP_UPDATE_ELEM, &update) == 0 &&
	       ksym_bpf(BPF_MAP_FREEZE, &freeze) == 0;
}

static bool map_get(int map, void *value)
{
	const uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = (uint32_t)map, .key = address_of(&key), .value = address_of(value)};

	return ksym_bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
}

/* bpf_snprintf(name, NAME_BYTES, "%ps", (u64[]){context->address}, 8) */
static int program_load(const struct ksym *ksym)
{
	const struct bpf_insn program[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_1},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_4,
		 .off = -8},
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = ksym->name},
		{0}, /* the second half of the address: the map's first byte */
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = NAME_BYTES},
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_3,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = ksym->format},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_10},
		/* NOLINTNEXTLINE(misc-redundant-expression): BPF_ADD and BPF_K are both 0 */
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_4, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_5, .imm = 8},
		{.code = BPF_JMP | BPF_CALL, .imm = FUNCTION_SNPRINTF},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = PROGRAM_TYPE,
		.prog_flags = BPF_F_SLEEPABLE,
		.insns = address_of(program),
		.insn_cnt = ARRAY_SIZE(program),
		.license = address_of(
			"Dual MIT/GPL"), /* the helper requires a GPL-compatible license */
	};

	return ksym_bpf(BPF_PROG_LOAD, &attr);
}

struct ksym *ksym_new(void)
{
	CLEANUP(ksym_cleanup) struct ksym *ksym = xcalloc(1, sizeof(*ksym));

	ksym->name = ksym->program = -1;
	ksym->format = map_new(sizeof("%ps"), BPF_F_RDONLY_PROG);
	if (ksym->format < 0 || !map_fix(ksym->format, "%ps"))
		return NULL;
	ksym->name = map_new(NAME_BYTES, 0);
	if (ksym->name < 0)
		return NULL;
	ksym->program = program_load(ksym);
	return ksym->program < 0 ? NULL : STEAL(ksym);
}

void ksym_free(struct ksym *ksym)
{
	if (!ksym)
		return;
	close_fd(&ksym->program);
	close_fd(&ksym->name);
	close_fd(&ksym->format);
	free(ksym);
}

static bool ksym_name(const struct ksym *ksym, uint64_t address, char name[NAME_BYTES])
{
	union bpf_attr attr = {.test = {
				       .prog_fd = (uint32_t)ksym->program,
				       .ctx_in = address_of(&address),
				       .ctx_size_in = sizeof(address),
			       }};

	return ksym_bpf(BPF_PROG_TEST_RUN, &attr) == 0 && map_get(ksym->name, name);
}

bool ksym_find(const struct ksym *ksym, const uint64_t *addresses, size_t count,
	       struct arena *arena, const char **names)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < count; i++) {
		if (!ksym_name(ksym, addresses[i], name))
			return false;
		/* An address without a symbol is printed as a number. */
		names[i] = text_begins(name, "0x") ? NULL
						   : arena_strndup(arena, name, strlen(name));
	}
	return true;
}
