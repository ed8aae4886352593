#include "perf/data_source.h"

#include "base/alloc.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* Names of the bits of each field, from the lowest bit; NULL for bits without a
 * name. */
static const char *const accesses[] = {NULL, "LOAD", "STORE", "PFETCH", "EXEC"};
static const char *const levels[] = {NULL,
				     NULL, /* hit */
				     NULL, /* miss */
				     "L1",
				     "LFB",
				     "L2",
				     "L3",
				     "Local RAM",
				     "Remote RAM (1 hop)",
				     "Remote RAM (2 hops)",
				     "Remote Cache (1 hop)",
				     "Remote Cache (2 hops)",
				     "I/O",
				     "Uncached"};
static const char *const snoops[] = {NULL, "None", "Hit", "Miss", "HitM"};
static const char *const more_snoops[] = {"Fwd", "Peer"};
static const char *const tlbs[] = {NULL, NULL, NULL, "L1", "L2", "Walker", "Fault"};
/* PERF_MEM_LVLNUM_*, including values of newer kernels. */
static const char *const level_numbers[16] = {NULL,  "L1",  "L2",	"L3",  "L4",  "L2 MHB",
					      "MSC", NULL,  "Uncached", "CXL", "I/O", "Any cache",
					      "LFB", "RAM", "PMEM",	NULL};

/* Separates the names with " or ". */
static void data_source_append(char *text, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, DATA_SOURCE_WORDS - len, "%s%s", len ? " or " : "", more);
}

static void append_words(char *text, uint64_t bits, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1 && words[i])
			data_source_append(text, words[i]);
}

static void append_outcome(char *text, bool is_hit, bool is_miss)
{
	size_t len = strlen(text);

	if (len && (is_hit || is_miss))
		snprintf(text + len, DATA_SOURCE_WORDS - len, " %s", is_hit ? "hit" : "miss");
}

/* The level number supersedes the level bits. If both are set, they agree. */
static void put_level(const union perf_mem_data_src *source, char *text)
{
	const char *number = level_numbers[source->mem_lvl_num];

	if (number)
		snprintf(text, DATA_SOURCE_WORDS, "%s%s", source->mem_remote ? "Remote " : "",
			 number);
	else
		append_words(text, source->mem_lvl, levels, ARRAY_SIZE(levels));
	append_outcome(text, source->mem_lvl & PERF_MEM_LVL_HIT,
		       source->mem_lvl & PERF_MEM_LVL_MISS);
}

static void data_source_add_label(struct data_source *ret, const char *name, const char *text)
{
	if (*text)
		ret->labels[ret->count++] = (struct record_field){
			.name = name, .is_text = true, .text = bytes_of(text, strlen(text))};
}

void data_source_decode(uint64_t value, struct data_source *ret)
{
	const union perf_mem_data_src source = {.val = value};

	*ret = (struct data_source){0};
	append_words(ret->access, source.mem_op, accesses, ARRAY_SIZE(accesses));
	put_level(&source, ret->level);
	append_words(ret->snoop, source.mem_snoop, snoops, ARRAY_SIZE(snoops));
	append_words(ret->snoop, source.mem_snoopx, more_snoops, ARRAY_SIZE(more_snoops));
	append_words(ret->tlb, source.mem_dtlb, tlbs, ARRAY_SIZE(tlbs));
	append_outcome(ret->tlb, source.mem_dtlb & PERF_MEM_TLB_HIT,
		       source.mem_dtlb & PERF_MEM_TLB_MISS);
	data_source_add_label(ret, "mem", ret->level);
	data_source_add_label(ret, "access", ret->access);
	data_source_add_label(ret, "snoop", ret->snoop);
	data_source_add_label(ret, "tlb", ret->tlb);
	data_source_add_label(ret, "locked", source.mem_lock & PERF_MEM_LOCK_LOCKED ? "yes" : "");
}
