#include "record/interrupt_code.h"

#include "base/cleanup.h"

#include "unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(interrupt_code, interrupt_code_free)

static const char symbols[] = "ffffffff81000010 T entry_SYSCALL_64\n"
			      "ffffffff81000100 t asm_sysvec_apic_timer_interrupt\n"
			      "ffffffff81000100 T an_alias_of_it\n"
			      "ffffffff81000140 T asm_exc_page_fault\n"
			      "ffffffff81000200 T asm_common_interrupt\n"
			      "garbage\n"
			      "ffffffff81000240 T do_idle\n"
			      "ffffffff81000300 D common_interrupt_data\n"
			      "ffffffff81000400 D more_data\n";

static struct interrupt_code *code_of(const char *text)
{
	CLEANUP(close_file) FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	return interrupt_code_read(file);
}

static size_t cut(struct interrupt_code *code, const uint64_t *chain, size_t count)
{
	struct bytes bytes = bytes_of(chain, count * sizeof(*chain));
	bool was_cut = interrupt_code_cut(code, &bytes);
	size_t left = bytes_left(&bytes) / sizeof(*chain);

	assert_true(was_cut || left == count);
	return was_cut ? left : 0;
}

TEST(a_chain_ends_where_the_interrupt_was_entered)
{
	CLEANUP(interrupt_code_cleanup) struct interrupt_code *code = code_of(symbols);
	const uint64_t timer[] = {0xffffffff81900000, 0xffffffff81000112, 0xffffffff81000222,
				  0xffffffff81000250};
	const uint64_t device[] = {0xffffffff81900000, 0xffffffff81000240, 0xffffffff81000250};
	const uint64_t call[] = {0xffffffff81900000, 0xffffffff81000150, 0xffffffff81000020,
				 0xffffffff81000301};

	assert_int_equal(cut(code, timer, 4), 2);
	assert_int_equal(cut(code, device, 3), 2);
	assert_int_equal(cut(code, call, 4), 0);
	assert_int_equal(cut(code, call, 0), 0);
}

TEST(work_that_was_put_off_until_after_an_interrupt_is_its_own)
{
	CLEANUP(interrupt_code_cleanup)
	struct interrupt_code *code = code_of("ffffffff81000100 T asm_common_interrupt\n"
					      "ffffffff81000200 T handle_softirqs\n"
					      "ffffffff81000300 T flush_smp_call_function_queue\n"
					      "ffffffff81000400 T do_idle\n"
					      "ffffffff81000500 T rest_init\n");
	const uint64_t softirq[] = {0xffffffff81900000, 0xffffffff81000210, 0xffffffff81000410};
	const uint64_t call[] = {0xffffffff81900000, 0xffffffff81000310, 0xffffffff81000410};
	const uint64_t loop[] = {0xffffffff81900000, 0xffffffff81000410};

	assert_true(interrupt_code_is_in(code, bytes_of(softirq, sizeof(softirq))));
	assert_true(interrupt_code_is_in(code, bytes_of(call, sizeof(call))));
	assert_false(interrupt_code_is_in(code, bytes_of(loop, sizeof(loop))));
	assert_int_equal(cut(code, softirq, 3), 0);
}

TEST(without_addresses_no_chain_is_cut)
{
	CLEANUP(interrupt_code_cleanup)
	struct interrupt_code *hidden = code_of(
		"0000000000000000 T asm_sysvec_apic_timer_interrupt\n"
		"0000000000000000 T do_idle\n");
	CLEANUP(interrupt_code_cleanup) struct interrupt_code *none = interrupt_code_read(NULL);
	const uint64_t chain[] = {0, 1, 0xffffffff81000112};

	assert_int_equal(cut(hidden, chain, 3), 0);
	assert_int_equal(cut(none, chain, 3), 0);
}

/* Where symbols can be named one by one, this compares both ways to find them. */
TEST(the_code_of_this_kernel_is_that_of_kallsyms)
{
	CLEANUP(close_file) FILE *kallsyms = fopen("/proc/kallsyms", "re");
	CLEANUP(interrupt_code_cleanup) struct interrupt_code *all = interrupt_code_read(kallsyms);
	CLEANUP(interrupt_code_cleanup) struct interrupt_code *code = interrupt_code_new();
	char line[512];

	rewind(kallsyms);
	while (fgets(line, sizeof(line), kallsyms) && !strchr(line, '[')) {
		uint64_t pc = strtoull(line, NULL, 16) + 1;
		struct bytes chain = bytes_of(&pc, sizeof(pc));

		if (strstr(line, "irq") || strstr(line, "interrupt") || strstr(line, "sysvec") ||
		    strstr(line, "smp_call"))
			assert_int_equal(interrupt_code_is_in(code, chain),
					 interrupt_code_is_in(all, chain));
	}
}
