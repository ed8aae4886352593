/* Must not include any other header that defines system call numbers. */
#include "waiting/call_names.h"

#if defined(__x86_64__) || defined(__i386__)

#include <asm/unistd_32.h>

static const struct call_name call_names_i386[] = {
#include "waiting/call_table.h"
};

struct call_name call_name_i386(int64_t number)
{
	if (number < 0 || number >= (int64_t)(sizeof(call_names_i386) / sizeof(call_names_i386[0])))
		return (struct call_name){0};
	return call_names_i386[number];
}

#else

struct call_name call_name_i386(int64_t number)
{
	(void)number;
	return (struct call_name){0};
}

#endif
