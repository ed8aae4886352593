/*
 * Tests each call frame instruction separately, and compares whole files with
 * libdw, which reads the same sections with other code. `test_cfi FILE…`
 * compares those files and prints the cost.
 */
#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"
#include "unwind/cfi_program.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "lacking.h"
#include "unit_test.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <link.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>

/* --- Against libdw --------------------------------------------------------------------------- */

enum { STEPS_MAX = 10000 };

struct comparison {
	struct elf_file *image;
	const struct arch *arch;
	struct cfi *cfi;
	Dwarf_CFI *oracle;
	struct cfi_section section;
	unsigned fdes, rows, differences;
	uint64_t our_ns, oracle_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void describe_ours(const struct cfi_value *value, char text[64])
{
	static const char *const words[] = {
		[CFI_UNDEFINED] = "undefined",	 [CFI_SAME] = "same",
		[CFI_AT_CFA] = "at cfa",	 [CFI_CFA_PLUS] = "cfa plus",
		[CFI_REGISTER] = "register",	 [CFI_EXPRESSION_AT] = "at expression",
		[CFI_EXPRESSION] = "expression",
	};
	bool has_offset = value->how == CFI_AT_CFA || value->how == CFI_CFA_PLUS ||
			  value->how == CFI_REGISTER;

	snprintf(text, 64, "%s %u %" PRId64, words[value->how],
		 value->how == CFI_REGISTER ? value->reg : 0, has_offset ? value->offset : 0);
}

static bool is_cfa_plus(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
	if (count == 0 || count > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	return count == 1 || ops[1].atom == DW_OP_plus_uconst;
}

static bool is_register_plus(const Dwarf_Op *ops, size_t count, uint64_t *reg, int64_t *offset)
{
	if (count != 1)
		return false;
	*offset = 0;
	if (ops[0].atom == DW_OP_bregx) {
		*reg = ops[0].number;
		*offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		*reg = ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
	} else if (ops[0].atom == DW_OP_regx) {
		*reg = ops[0].number;
	} else {
		return false;
	}
	return true;
}

static void describe_oracle(Dwarf_Frame *frame, unsigned reg, char text[64])
{
	Dwarf_Op memory[3], *ops;
	int64_t offset;
	uint64_t source;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, (int)reg, memory, &ops, &count), 0);
	if (count == 0) {
		snprintf(text, 64, "%s 0 0", ops ? "undefined" : "same");
		return;
	}
	bool is_value = ops[count - 1].atom == DW_OP_stack_value;

	count -= is_value;
	if (is_cfa_plus(ops, count, &offset))
		snprintf(text, 64, "%s 0 %" PRId64, is_value ? "cfa plus" : "at cfa", offset);
	else if (!is_value && is_register_plus(ops, count, &source, &offset))
		snprintf(text, 64, "register %" PRIu64 " 0", source);
	else
		snprintf(text, 64, "%s 0 0", is_value ? "expression" : "at expression");
}

static void describe_oracle_cfa(Dwarf_Frame *frame, char text[64])
{
	Dwarf_Op *ops;
	size_t count;
	uint64_t reg;
	int64_t offset;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (count == 0)
		snprintf(text, 64, "undefined 0 0");
	else if (is_register_plus(ops, count, &reg, &offset))
		snprintf(text, 64, "register %" PRIu64 " %" PRId64, reg, offset);
	else
		snprintf(text, 64, "expression 0 0");
}

static void expect(struct comparison *comparison, uint64_t vaddr, const char *what,
		   const char *ours, const char *theirs)
{
	if (strcmp(ours, theirs) == 0)
		return;
	if (comparison->differences++ < 10)
		fprintf(stderr, "%s, 0x%" PRIx64 ", %s: %s, libdw says %s\n",
			elf_file_name(comparison->image), vaddr, what, ours, theirs);
}

/*
 * If an entry has no rule, the psABI applies. libdw (0.188) has a bug there: it
 * assumes that register 0, rax, is the preserved rbx, which is 3.
 */
static bool is_known_slip(const struct arch *arch, unsigned reg, const char *ours,
			  const char *theirs)
{
	return arch == &arch_x86_64 && ((reg == 0 && strcmp(ours, "undefined 0 0") == 0 &&
					 strcmp(theirs, "same 0 0") == 0) ||
					(reg == 3 && strcmp(ours, "same 0 0") == 0 &&
					 strcmp(theirs, "undefined 0 0") == 0));
}

static void compare_row(struct comparison *comparison, uint64_t vaddr, const struct cfi_rule *ours,
			Dwarf_Frame *frame)
{
	Dwarf_Addr start, end;
	bool is_signal;
	char text[64], expected[64], name[16];

	dwarf_frame_info(frame, &start, &end, &is_signal);
	/* Rows are adjacent. libdw's start is too low after a restore_state. */
	assert_true(start <= ours->start && ours->start == vaddr);
	snprintf(text, sizeof(text), "%" PRIx64 " %d", ours->end, ours->signal_frame);
	snprintf(expected, sizeof(expected), "%" PRIx64 " %d", end, is_signal);
	expect(comparison, vaddr, "end", text, expected);
	describe_ours(&ours->row.cfa, text);
	describe_oracle_cfa(frame, expected);
	expect(comparison, vaddr, "cfa", text, expected);
	for (unsigned reg = 0; reg < comparison->arch->register_count; reg++) {
		describe_ours(&ours->row.regs[reg], text);
		describe_oracle(frame, reg, expected);
		snprintf(name, sizeof(name), "r%u", reg);
		if (!is_known_slip(comparison->arch, reg, text, expected))
			expect(comparison, vaddr, name, text, expected);
	}
	comparison->rows++;
}

static void compare_fde(struct comparison *comparison, const struct cfi_fde *fde)
{
	struct cfi_rule rule;

	comparison->fdes++;
	for (uint64_t vaddr = fde->start; vaddr < fde->end; vaddr = rule.end) {
		CLEANUP(free_ptr) Dwarf_Frame *frame = NULL;
		uint64_t begin = now_ns();
		unsigned steps = STEPS_MAX;
		bool found = cfi_find(comparison->cfi, vaddr, &steps, &rule);
		uint64_t middle = now_ns();
		bool expected = dwarf_cfi_addrframe(comparison->oracle, vaddr, &frame) == 0;

		comparison->oracle_ns += now_ns() - middle;
		comparison->our_ns += middle - begin;
		expect(comparison, vaddr, "entry", found ? "found" : "none",
		       expected ? "found" : "none");
		if (!found || !expected)
			return;
		compare_row(comparison, vaddr, &rule, frame);
	}
}

static unsigned count_fdes(const struct elf_file *image, const struct cfi_section *section)
{
	const unsigned char *e_ident = elf_file_contents(image).at;
	Elf_Data data = {.d_buf = (void *)(uintptr_t)section->data.at,
			 .d_size = bytes_left(&section->data),
			 .d_type = ELF_T_BYTE,
			 .d_version = EV_CURRENT};
	Dwarf_CFI_Entry entry;
	unsigned count = 0;

	for (Dwarf_Off at = 0; at != (Dwarf_Off)-1;) {
		if (dwarf_next_cfi(e_ident, &data, section->is_eh_frame, at, &at, &entry) != 0)
			break;
		count += !dwarf_cfi_cie_p(&entry);
	}
	return count;
}

static void compare_section(struct comparison *comparison)
{
	struct cfi_fde fde;
	uint64_t offset = 0;

	do {
		if (cfi_fde_read(&comparison->section, offset, &fde))
			compare_fde(comparison, &fde);
	} while (cfi_entry_next(&comparison->section, &offset));
	assert_int_equal(comparison->fdes, count_fdes(comparison->image, &comparison->section));
}

static struct elf_file *open_image(const char *path)
{
	struct elf_file *image = NULL;

	error_free(elf_file_open(open(path, O_RDONLY | O_CLOEXEC), path, &image));
	return image;
}

/* Returns false if the file has no .eh_frame. */
static bool compare_file(const char *path, struct comparison *comparison)
{
	CLEANUP(elf_file_cleanup) struct elf_file *image = open_image(path);

	*comparison = (struct comparison){.image = image, .arch = arch_native()};
	if (!image)
		return false;
	struct elf_section found = elf_file_section(image, ".eh_frame");
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(image, comparison->arch);

	cfi_index(cfi, NULL);
	comparison->section = (struct cfi_section){
		.data = found.data, .vaddr = found.vaddr, .is_eh_frame = true, .word_bytes = 8};
	comparison->cfi = cfi;
	struct bytes contents = elf_file_contents(image);

	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)(uintptr_t)contents.at, bytes_left(&contents));

	comparison->oracle = dwarf_getcfi_elf(elf);
	if (comparison->oracle)
		compare_section(comparison);
	dwarf_cfi_end(comparison->oracle);
	elf_end(elf);
	return comparison->oracle;
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	struct comparison comparison;
	unsigned *files = user;

	(void)size;
	if (!*info->dlpi_name || !compare_file(info->dlpi_name, &comparison))
		return 0;
	assert_true(comparison.rows > 0);
	assert_int_equal(comparison.differences, 0);
	++*files;
	return 0;
}

TEST(every_row_of_installed_libraries_equals_that_of_libdw)
{
	unsigned files = 0;

	dl_iterate_phdr(compare_loaded, &files);
	assert_true(files >= 2); /* libc and the dynamic linker, at least */
}

static int compare_files(int count, char **paths)
{
	bool equal = true;

	for (int i = 0; i < count; i++) {
		struct comparison comparison;

		if (!compare_file(paths[i], &comparison)) {
			printf("%s: no .eh_frame\n", paths[i]);
			continue;
		}
		printf("%s: %u entries, %u rows, %u differences; %" PRIu64
		       " ns a row, libdw %" PRIu64 "\n",
		       paths[i], comparison.fdes, comparison.rows, comparison.differences,
		       comparison.our_ns / comparison.rows, comparison.oracle_ns / comparison.rows);
		equal &= comparison.differences == 0;
	}
	return !equal;
}

/* --- By hand -----------------------------------------------------------------------------------
 */

/* An .eh_frame with one CIE and one FDE for [0x1000, 0x1100). */
struct eh_frame {
	unsigned char data[256];
	size_t length, fde;
};

static void append(struct eh_frame *frame, const void *data, size_t length)
{
	assert_true(frame->length + length <= sizeof(frame->data));
	memcpy(frame->data + frame->length, data, length);
	frame->length += length;
}

static void append_entry(struct eh_frame *frame, uint32_t id, const void *head, size_t head_length,
			 const void *program, size_t program_length)
{
	uint32_t length = (uint32_t)(sizeof(id) + head_length + program_length);

	append(frame, &length, sizeof(length));
	append(frame, &id, sizeof(id));
	append(frame, head, head_length);
	append(frame, program, program_length);
}

static struct eh_frame eh_frame_new(const void *program, size_t length)
{
	static const unsigned char cie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_absptr};
	static const unsigned char initial[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	static const unsigned char fde[] = {0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
	struct eh_frame frame = {.length = 0};

	append_entry(&frame, 0, cie, sizeof(cie), initial, sizeof(initial));
	frame.fde = frame.length;
	append_entry(&frame, (uint32_t)frame.length + 4, fde, sizeof(fde), program, length);
	return frame;
}

static bool find(const struct eh_frame *frame, uint64_t vaddr, struct cfi_rule *ret)
{
	struct cfi_section section = {
		.data = bytes_of(frame->data, frame->length), .is_eh_frame = true, .word_bytes = 8};
	unsigned steps = STEPS_MAX;
	struct cfi_row defaults;
	struct cfi_fde fde;

	cfi_row_default(&arch_x86_64, &defaults);
	return cfi_fde_read(&section, frame->fde, &fde) &&
	       cfi_program_run(&section, &fde, &arch_x86_64, &defaults, vaddr, &steps, ret);
}

/* Runs the instructions and returns the rule for 0x1000. */
static bool run(struct cfi_rule *ret, const void *program, size_t length)
{
	struct eh_frame frame = eh_frame_new(program, length);

	return find(&frame, 0x1000, ret);
}

#define RUN(rule, ...)                                                                             \
	run(rule, (const unsigned char[]){__VA_ARGS__},                                            \
	    sizeof((const unsigned char[]){__VA_ARGS__}))

static void assert_value(const struct cfi_value *value, enum cfi_how how, int64_t offset)
{
	assert_int_equal(value->how, how);
	assert_int_equal(value->offset, offset);
}

TEST(each_row_holds_for_its_range)
{
	static const unsigned char program[] =
		"\x41\x0e\x10\x86\x02"	  /* advance, def_cfa_offset, offset */
		"\x02\x03\x0d\x06"	  /* advance_loc1, def_cfa_register */
		"\x03\x10\0\x0c\x07\x08"  /* advance_loc2, def_cfa */
		"\x04\x08\0\0\0\x0e\x18"; /* advance_loc4, def_cfa_offset */
	struct eh_frame frame = eh_frame_new(program, sizeof(program));
	static const struct {
		uint64_t vaddr, start, end;
		unsigned reg;
		int64_t offset;
	} rows[] = {{0x1000, 0x1000, 0x1001, 7, 8},  {0x1001, 0x1001, 0x1004, 7, 16},
		    {0x1003, 0x1001, 0x1004, 7, 16}, {0x1004, 0x1004, 0x1014, 6, 16},
		    {0x101b, 0x1014, 0x101c, 7, 8},  {0x10ff, 0x101c, 0x1100, 7, 24}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cfi_rule rule;

		assert_true(find(&frame, rows[i].vaddr, &rule));
		assert_int_equal(rule.start, rows[i].start);
		assert_int_equal(rule.end, rows[i].end);
		assert_int_equal(rule.row.cfa.reg, rows[i].reg);
		assert_value(&rule.row.cfa, CFI_REGISTER, rows[i].offset);
		assert_value(&rule.row.regs[16], CFI_AT_CFA, -8);
		assert_int_equal(rule.row.regs[6].how, i ? CFI_AT_CFA : CFI_SAME);
	}
}

TEST(each_instruction_sets_what_it_says)
{
	struct cfi_rule rule;

	assert_true(RUN(&rule, DW_CFA_offset_extended, 3, 4, DW_CFA_offset_extended_sf, 12, 0x7d,
			DW_CFA_GNU_negative_offset_extended, 13, 2, DW_CFA_val_offset, 14, 5,
			DW_CFA_val_offset_sf, 15, 0x7f));
	assert_value(&rule.row.regs[3], CFI_AT_CFA, -32);
	assert_value(&rule.row.regs[12], CFI_AT_CFA, 24);
	assert_value(&rule.row.regs[13], CFI_AT_CFA, 16);
	assert_value(&rule.row.regs[14], CFI_CFA_PLUS, -40);
	assert_value(&rule.row.regs[15], CFI_CFA_PLUS, 8);
	assert_true(RUN(&rule, DW_CFA_undefined, 16, DW_CFA_same_value, 0, DW_CFA_register, 3, 9));
	assert_value(&rule.row.regs[16], CFI_UNDEFINED, 0);
	assert_value(&rule.row.regs[0], CFI_SAME, 0);
	assert_value(&rule.row.regs[3], CFI_REGISTER, 0);
	assert_int_equal(rule.row.regs[3].reg, 9);
	assert_true(RUN(&rule, DW_CFA_def_cfa_sf, 6, 0x7e, DW_CFA_GNU_args_size, 8, DW_CFA_nop,
			DW_CFA_AARCH64_negate_ra_state, 0x2c /* negate_ra_state_with_pc */,
			0x2b /* set_ra_state */, 3, 0x7f));
	assert_value(&rule.row.cfa, CFI_REGISTER, 16);
	assert_true(RUN(&rule, DW_CFA_def_cfa_offset_sf, 0x7d));
	assert_value(&rule.row.cfa, CFI_REGISTER, 24);
	assert_true(RUN(&rule, DW_CFA_expression, 3, 2, DW_OP_breg7, 1, DW_CFA_val_expression, 12,
			1, DW_OP_lit3, DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 8));
	assert_int_equal(rule.row.regs[3].how, CFI_EXPRESSION_AT);
	assert_int_equal(rule.row.regs[3].expression_bytes, 2);
	assert_int_equal(rule.row.regs[12].how, CFI_EXPRESSION);
	assert_int_equal(rule.row.cfa.how, CFI_EXPRESSION);
	assert_int_equal(rule.row.cfa.expression_bytes, 2);
	assert_true(RUN(&rule, DW_CFA_set_loc, 0x80, 0x10, 0, 0, 0, 0, 0, 0));
	assert_int_equal(rule.end, 0x1080);
}

TEST(states_are_remembered_and_registers_restored)
{
	struct cfi_rule rule;

	assert_true(RUN(&rule, DW_CFA_offset | 6, 2, DW_CFA_remember_state, DW_CFA_def_cfa, 6, 32,
			DW_CFA_offset | 6, 3, DW_CFA_restore_state));
	assert_value(&rule.row.regs[6], CFI_AT_CFA, -16);
	assert_value(&rule.row.cfa, CFI_REGISTER, 8);
	assert_true(RUN(&rule, DW_CFA_offset | 6, 2, DW_CFA_undefined, 16, DW_CFA_restore | 6,
			DW_CFA_restore_extended, 16));
	assert_value(&rule.row.regs[6], CFI_SAME, 0);
	assert_value(&rule.row.regs[16], CFI_AT_CFA, -8);
}

TEST(vector_registers_do_not_matter)
{
	struct cfi_rule rule;

	/* VG of aarch64, with which frames of SVE code describe the size of
	 * vectors, and a vector. */
	assert_true(RUN(&rule, DW_CFA_val_expression, 46, 1, DW_OP_lit2, DW_CFA_expression, 72, 3,
			DW_OP_bregx, 46, 0));
	assert_value(&rule.row.cfa, CFI_REGISTER, 8);

	assert_true(RUN(&rule, DW_CFA_offset_extended, 0x80, 0x80, 0x04, 2, DW_CFA_offset | 33, 1,
			DW_CFA_restore | 40, DW_CFA_same_value, 50, DW_CFA_register, 40, 41));
	assert_value(&rule.row.cfa, CFI_REGISTER, 8);
}

TEST(invalid_instructions_give_no_row)
{
	struct cfi_rule rule;

	assert_false(RUN(&rule, DW_CFA_restore_state));
	assert_false(RUN(&rule, DW_CFA_def_cfa, 17, 8));
	assert_false(RUN(&rule, DW_CFA_register, 3, 17));
	assert_false(
		RUN(&rule, DW_CFA_def_cfa_expression, 1, DW_OP_lit1, DW_CFA_def_cfa_offset, 8));
	assert_false(RUN(&rule, DW_CFA_set_loc, 0, 0x0f, 0, 0, 0, 0, 0, 0)); /* backwards */
	assert_false(RUN(&rule, DW_CFA_def_cfa_expression, 9, DW_OP_lit1));  /* cut off */
	assert_false(RUN(&rule, 0x3e));
	assert_false(RUN(&rule, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			 DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			 DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			 DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			 DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			 DW_CFA_remember_state, DW_CFA_remember_state));
}

TEST(pointers_have_each_encoding_and_two_bases)
{
	enum { PCREL = DW_EH_PE_pcrel, AT = 4 };
	static const unsigned char bytes[16] = {0, 0, 0, 0, 0x81, 0x82, 0x83, 0x84, 0x05, 0, 0, 0};
	static const struct {
		uint8_t encoding;
		size_t len; /* 0 if it is refused */
		uint64_t value;
	} cases[] = {
		{DW_EH_PE_absptr, 8, 0x0584838281},
		{DW_EH_PE_udata2, 2, 0x8281},
		{DW_EH_PE_sdata2, 2, 0xffffffffffff8281},
		{DW_EH_PE_udata4, 4, 0x84838281},
		{DW_EH_PE_sdata4, 4, 0xffffffff84838281},
		{DW_EH_PE_udata8, 8, 0x0584838281},
		{DW_EH_PE_sdata8, 8, 0x0584838281},
		{DW_EH_PE_uleb128, 5, 1 | 2 << 7 | 3 << 14 | 4 << 21 | UINT64_C(5) << 28},
		{DW_EH_PE_sleb128, 5, 1 | 2 << 7 | 3 << 14 | 4 << 21 | UINT64_C(5) << 28},
		{PCREL | DW_EH_PE_udata2, 2, 0x1000 + AT + 0x8281},
		{DW_EH_PE_datarel | DW_EH_PE_udata2, 0, 0},
		{DW_EH_PE_textrel | DW_EH_PE_udata2, 0, 0},
		{0x05, 0, 0},
	};
	struct cfi_section section = {
		.data = bytes_of(bytes, sizeof(bytes)), .vaddr = 0x1000, .word_bytes = 8};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes from = bytes_at(section.data, AT);
		uint64_t value = cfi_pointer(&section, &from, cases[i].encoding);

		assert_int_equal(bytes_ok(&from), cases[i].len != 0);
		if (!cases[i].len)
			continue;
		assert_int_equal(value, cases[i].value);
		assert_int_equal(from.at - bytes - AT, cases[i].len);
	}
}

TEST(a_truncated_entry_gives_no_row)
{
	static const unsigned char program[] = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16};
	struct eh_frame whole = eh_frame_new(program, sizeof(program));
	struct cfi_rule rule;

	assert_true(find(&whole, 0x1050, &rule));
	for (size_t length = 0; length < whole.length; length++) {
		struct eh_frame cut = whole;

		cut.length = length;
		assert_false(find(&cut, 0x1050, &rule));
	}
}

TEST(a_program_with_too_many_instructions_gives_no_row)
{
	enum { NOPS = 1 << 20 };
	CLEANUP(free_ptr) unsigned char *nops = xcalloc(NOPS, 1);
	struct eh_frame frame = eh_frame_new("", 0);
	struct cfi_section section = {
		.data = bytes_of(frame.data, frame.length), .is_eh_frame = true, .word_bytes = 8};
	unsigned steps = STEPS_MAX;
	struct cfi_row defaults;
	struct cfi_rule rule;
	struct cfi_fde fde;

	cfi_row_default(&arch_x86_64, &defaults);
	assert_true(cfi_fde_read(&section, frame.fde, &fde));
	fde.program = bytes_of(nops, NOPS);
	assert_false(
		cfi_program_run(&section, &fde, &arch_x86_64, &defaults, 0x1000, &steps, &rule));
	assert_int_equal(steps, 0);
	fde.program = bytes_of(nops, STEPS_MAX / 2);
	steps = STEPS_MAX;
	assert_true(
		cfi_program_run(&section, &fde, &arch_x86_64, &defaults, 0x1000, &steps, &rule));
	assert_true(steps > 0);
}

TEST(endless_augmentations_and_numbers_give_no_entry)
{
	enum { LETTERS = 1 << 20 };
	CLEANUP(free_ptr) unsigned char *data = xcalloc(LETTERS + 64, 1);
	struct cfi_section section = {.is_eh_frame = true, .word_bytes = 8};
	uint32_t length = LETTERS + 32, back = LETTERS + 32 + 8;
	struct cfi_fde fde;

	for (unsigned char fill = 'B'; fill; fill = fill == 'B' ? 0x80 : 0) {
		memcpy(data, &length, sizeof(length));
		memset(data + 4, 0, 4);
		data[8] = 1;
		memcpy(data + 9, "zR", 3);
		memset(fill == 'B' ? data + 11 : data + 12, fill, LETTERS);
		/* The FDE after it. */
		memcpy(data + length + 4, (uint32_t[]){20, back}, 8);
		section.data = bytes_of(data, LETTERS + 64);
		assert_false(cfi_fde_read(&section, length + 4, &fde));
	}
}

/* Makes a copy of this program that all users may write to, which makes it
 * untrusted. */
static int untrusted_copy(char *path)
{
	CLEANUP(close_fd) int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = mkstemp(path);
	ssize_t copied;

	assert_true(to >= 0);
	do
		copied = sendfile(to, from, NULL, 1 << 20);
	while (copied > 0);
	assert_int_equal(copied, 0);
	assert_int_equal(fchmod(to, 0666), 0);
	return to;
}

TEST(the_functions_of_the_start_files_are_their_sections)
{
	static const char *const names[] = {".init", ".fini"};
	CLEANUP(elf_file_cleanup) struct elf_file *image = open_image("/proc/self/exe");
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(image, arch_native());
	const struct elf_code *found;
	uint64_t after;

	if (arch_native() != &arch_x86_64)
		RETURN_LACKING("x86-64");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elf_section section = elf_file_section(image, names[i]);

		after = section.vaddr + bytes_left(&section.data);
		assert_true(after > section.vaddr);
		found = cfi_start_function(cfi, after - 1);
		assert_non_null(found);
		assert_int_equal(found->start, section.vaddr);
		assert_int_equal(found->end, after);
		assert_null(cfi_start_function(cfi, after));
	}
	assert_null(cfi_start_function(cfi, 0));
}

TEST(rules_of_an_untrusted_file_do_not_change_with_it)
{
	char path[] = "/tmp/prof-test-XXXXXX";
	CLEANUP(close_fd) int fd = untrusted_copy(path);
	CLEANUP(elf_file_cleanup) struct elf_file *image = open_image(path);
	uint64_t vaddr, end;
	struct cfi_rule before, after;
	unsigned steps = STEPS_MAX, count;

	assert_true(elf_file_is_untrusted(image));
	CLEANUP(cfi_cleanup) struct cfi *cfi = cfi_new(image, arch_native());
	const struct elf_file_segment *segment = elf_file_segments(image, &count);

	while (!segment->executable)
		segment++;
	cfi_index(cfi, NULL);
	assert_true(cfi_memory_bytes(cfi) > 1000);
	vaddr = segment->vaddr;
	end = vaddr + segment->file_bytes;
	while (vaddr < end && !cfi_find(cfi, vaddr, &steps, &before)) {
		steps = STEPS_MAX;
		vaddr++;
	}
	assert_true(vaddr < end);
	assert_int_equal(ftruncate(fd, 0), 0);
	steps = STEPS_MAX;
	assert_true(cfi_find(cfi, vaddr, &steps, &after));
	assert_int_equal(after.start, before.start);
	assert_int_equal(after.end, before.end);
	assert_value(&after.row.cfa, before.row.cfa.how, before.row.cfa.offset);
	unlink(path);
}

TEST(debug_frame_of_either_width_is_read)
{
	static const char narrow[] = /* CIE, DWARF 4, with DW_CFA_def_cfa */
		"\x0e\0\0\0"
		"\xff\xff\xff\xff\x04\0\x08\0\x01\x78\x10\x0c\x07\x08"
		/* FDE */
		"\x14\0\0\0"
		"\0\0\0\0"
		"\0\x10\0\0\0\0\0\0"
		"\0\x01\0\0\0\0\0";
	static const char wide[] = /* CIE, DWARF 3 */
		"\xff\xff\xff\xff\x10\0\0\0\0\0\0\0"
		"\xff\xff\xff\xff\xff\xff\xff\xff\x03\0\x01\x78\x10\x0c\x07\x08"
		/* FDE */
		"\xff\xff\xff\xff\x18\0\0\0\0\0\0\0"
		"\0\0\0\0\0\0\0\0"
		"\0\x10\0\0\0\0\0\0"
		"\0\x01\0\0\0\0\0";
	struct cfi_section sections[] = {
		{.data = bytes_of(narrow, sizeof(narrow)), .word_bytes = 8},
		{.data = bytes_of(wide, sizeof(wide)), .word_bytes = 8}};

	for (unsigned i = 0; i < 2; i++) {
		struct cfi_fde fde;
		uint64_t offset = 0;

		assert_false(cfi_fde_read(&sections[i], offset, &fde)); /* that is the CIE */
		assert_true(cfi_entry_next(&sections[i], &offset));
		assert_true(cfi_fde_read(&sections[i], offset, &fde));
		assert_int_equal(fde.start, 0x1000);
		assert_int_equal(fde.end, 0x1100);
		assert_int_equal(fde.cie.data_align, -8);
		assert_false(cfi_entry_next(&sections[i], &offset));
	}
	/* Addresses of another size, and segments. */
	for (unsigned at = 10; at < 12; at++) {
		unsigned char other[sizeof(narrow)];
		struct cfi_section section = {.data = bytes_of(other, sizeof(other)),
					      .word_bytes = 8};
		uint64_t offset = 0;
		struct cfi_fde fde;

		memcpy(other, narrow, sizeof(narrow));
		other[at] = 4;
		assert_true(cfi_entry_next(&section, &offset));
		assert_false(cfi_fde_read(&section, offset, &fde));
	}
}

TEST(a_silent_entry_follows_the_psabi)
{
	struct cfi_row row;

	cfi_row_default(&arch_x86_64, &row);
	for (unsigned reg = 0; reg < 16; reg++) {
		bool is_preserved = reg == 3 || reg == 6 || reg >= 12;

		if (reg != arch_x86_64.sp)
			assert_int_equal(row.regs[reg].how,
					 is_preserved ? CFI_SAME : CFI_UNDEFINED);
	}
	assert_value(&row.regs[arch_x86_64.sp], CFI_CFA_PLUS, 0);
	assert_value(&row.regs[arch_x86_64.ra], CFI_AT_CFA, -8);
	cfi_row_default(&arch_aarch64, &row);
	assert_value(&row.regs[arch_aarch64.ra], CFI_SAME, 0);
	assert_value(&row.regs[18], CFI_UNDEFINED, 0);
	assert_value(&row.regs[19], CFI_SAME, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return compare_files(argc - 1, argv + 1);
	return unit_tests_run();
}
