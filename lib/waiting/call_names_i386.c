/* Includes no other header that defines the numbers of system calls. */
#include "waiting/call_names.h"

#if defined(__x86_64__) || defined(__i386__)

#include <asm/unistd_32.h>

static const struct call_name names[] = {
#include "waiting/call_table.h"
};

struct call_name call_name_i386(int64_t number)
{
	if (number < 0 || number >= (int64_t)(sizeof(names) / sizeof(names[0])))
		return (struct call_name){0};
	return names[number];
}

#else

struct call_name call_name_i386(int64_t number)
{
	(void)number;
	return (struct call_name){0};
}

#endif
