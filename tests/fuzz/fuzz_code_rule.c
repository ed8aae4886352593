/* Fuzzes the machine code of a function: the rule at each of its bytes. */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "noted.h"
#include "unwind/code_rule.h"

#include <stdlib.h>

enum { BYTES_MAX = 256, STEPS = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct code_rule *finder;
	size_t len = size < BYTES_MAX ? size : BYTES_MAX;
	/* Exactly as large as the code, so that the address sanitizer detects
	 * reads beyond it. */
	CLEANUP(free_ptr) unsigned char *code = xmalloc(len + !len);

	if (!finder)
		finder = code_rule_new();
	memcpy(code, data, len);
	for (size_t at = 0; at <= len; at++) {
		unsigned steps = STEPS;
		struct cfi_rule rule;

		if (!code_rule_analyze(finder, code, len, at & 1, &steps) ||
		    !code_rule_find(finder, at, &rule))
			continue;
		if (rule.row.cfa.how != CFI_REGISTER || rule.row.cfa.offset < 8)
			abort();
		note_rule(&arch_x86_64, &rule);
	}
	return 0;
}
