#include "perf/data_source.h"

#include "unit_test.h"

#include <linux/perf_event.h>
#include <stdio.h>

/* Returns the labels of a data source: "mem=L1 hit access=LOAD". */
static const char *labels_of(uint64_t value)
{
	static char text[sizeof(struct data_source)];
	struct data_source source;
	size_t len = 0;

	text[0] = '\0';
	data_source_decode(value, &source);
	for (unsigned i = 0; i < source.count; i++) {
		const struct record_field *label = &source.labels[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s=%.*s", i ? " " : "",
					label->name, (int)bytes_left(&label->text),
					(const char *)label->text.at);
	}
	return text;
}

TEST(what_is_not_available_has_no_label)
{
	assert_string_equal(labels_of(0), "");
	assert_string_equal(labels_of(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) |
				      PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) |
				      PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA)),
			    "");
}

TEST(labels_are_in_the_words_of_perf)
{
	assert_string_equal(labels_of(PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
				      PERF_MEM_S(LVL, L1) | PERF_MEM_S(SNOOP, NONE) |
				      PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) |
				      PERF_MEM_S(TLB, L2)),
			    "mem=L1 hit access=LOAD snoop=None tlb=L1 or L2 hit");
	assert_string_equal(labels_of(PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, MISS) |
				      PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, HITM) |
				      PERF_MEM_S(LOCK, LOCKED)),
			    "mem=L3 miss access=STORE snoop=HitM locked=yes");
}

TEST(the_number_of_a_level_says_more_than_its_bit)
{
	assert_string_equal(labels_of(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LOC_RAM) |
				      PERF_MEM_S(LVLNUM, RAM)),
			    "mem=RAM hit");
	assert_string_equal(labels_of(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVLNUM, ANY_CACHE) |
				      PERF_MEM_S(REMOTE, REMOTE)),
			    "mem=Remote Any cache hit");
}

TEST(any_bits_have_texts_of_bounded_length)
{
	struct data_source source;

	data_source_decode(~(UINT64_C(0xf) << PERF_MEM_LVLNUM_SHIFT), &source);
	assert_int_equal(source.count, DATA_SOURCE_LABELS);
	for (unsigned i = 0; i < source.count; i++)
		assert_true(bytes_left(&source.labels[i].text) < DATA_SOURCE_WORDS);
}
