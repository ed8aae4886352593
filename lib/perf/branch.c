#include "perf/branch.h"

#include "base/alloc.h"
#include "base/nearest.h"

#include <linux/perf_event.h>
#include <string.h>

/* Bit fields of the third word of struct perf_branch_entry. */
enum {
	MISPREDICTED = 1 << 0,
	PREDICTED = 1 << 1,
	IN_TRANSACTION = 1 << 2,
	ABORT = 1 << 3,
	CYCLES_SHIFT = 4,
	CYCLES_MASK = 0xffff,
	TYPE_SHIFT = 20,
	TYPE_MASK = 0xf,
};

const uint64_t branch_filter_any = PERF_SAMPLE_BRANCH_ANY;
/* Omits flags and cycles, which are useless for calls and cost the kernel
 * time. */
const uint64_t branch_filter_call_stack = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					  PERF_SAMPLE_BRANCH_NO_CYCLES |
					  PERF_SAMPLE_BRANCH_NO_FLAGS;

bool branch_next(struct bytes *branches, struct branch *ret)
{
	uint64_t from = bytes_u64(branches), to = bytes_u64(branches), flags = bytes_u64(branches);

	*ret = (struct branch){
		.from = from,
		.to = to,
		.is_mispredicted = flags & MISPREDICTED,
		.is_predicted = flags & PREDICTED,
		.is_in_transaction = flags & IN_TRANSACTION,
		.is_abort = flags & ABORT,
		.cycles = flags >> CYCLES_SHIFT & CYCLES_MASK,
		.type = flags >> TYPE_SHIFT & TYPE_MASK,
	};
	return bytes_ok(branches);
}

/* The names are indexed by PERF_BR_*, whose last values old headers lack. */
const char *branch_type_name(unsigned type)
{
	static const char *const names[] = {NULL,	"COND", "UNCOND",  "IND",    "CALL",
					    "IND_CALL", "RET",	"SYSCALL", "SYSRET", "COND_CALL",
					    "COND_RET", "ERET", "IRQ",	   "SERROR", "NO_TX"};

	return type < ARRAY_SIZE(names) ? names[type] : NULL;
}

static const struct {
	const char *word;
	uint64_t bit;
} filters[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
};

/* Filter bits that choose a privilege level or an output, but no branches. */
static const uint64_t companions = PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_NO_FLAGS |
				   PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_TYPE_SAVE |
				   PERF_SAMPLE_BRANCH_HW_INDEX;

static struct error *unknown_filter(const char *word)
{
	const char *words[ARRAY_SIZE(filters) + 1] = {0};
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		words[i] = filters[i].word;
	near = nearest(word, words);
	return error_hint(error_new("\"%s\" is not a branch filter", word),
			  near ? "did you mean %s?"
			       : "use any, any_call, any_ret, ind_call, ind_jmp, "
				 "call, cond, u or k",
			  near);
}

struct error *branch_filter_parse(const char *list, uint64_t *ret)
{
	CLEANUP(free_ptr) char *copy = xstrdup(list);
	char *rest = copy, *word;

	*ret = 0;
	while ((word = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < ARRAY_SIZE(filters) && strcmp(filters[i].word, word) != 0)
			i++;
		if (i == ARRAY_SIZE(filters))
			return unknown_filter(word);
		*ret |= filters[i].bit;
	}
	if (!(*ret & ~companions))
		*ret |= branch_filter_any;
	return NULL;
}
