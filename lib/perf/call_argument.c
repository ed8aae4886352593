#include "perf/call_argument.h"

#include "base/text.h"
#include "perf/record.h"

#include <string.h>

/* Bits of the argument registers, in order. */
#ifdef __x86_64__
static const uint8_t registers[] = {5, 4, 3, 2, 16, 17}; /* di, si, dx, cx, r8, r9 */
#else
static const uint8_t registers[] = {0, 1, 2, 3, 4, 5}; /* x0 to x5 */
#endif

bool call_argument_parse(const char *text, struct call_argument *ret)
{
	static const char bytes[] = "bytes:", name[] = "arg";
	bool are_bytes = text_begins(text, bytes);
	const char *number = are_bytes ? text + strlen(bytes) : text;

	if (!text_begins(number, name))
		return false;
	number += strlen(name);
	if (number[0] < '1' || number[0] > '6' || number[1])
		return false;
	ret->register_bit = UINT64_C(1) << registers[number[0] - '1'];
	ret->kind = are_bytes ? VALUE_BYTES : VALUE_COUNT;
	return true;
}

uint64_t call_argument_value(struct call_argument argument, const struct record_regs *regs)
{
	unsigned bit = (unsigned)__builtin_ctzll(argument.register_bit);
	int64_t value = (int64_t)record_register(regs, bit);

	if (value < 0)
		return 0;
	return (uint64_t)value < CALL_ARGUMENT_MAX ? (uint64_t)value : CALL_ARGUMENT_MAX;
}
