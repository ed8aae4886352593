#include "waiting/call_names.h"

#include <sys/syscall.h>

static const struct call_name names[] = {
#include "waiting/call_table.h"
};

struct call_name call_name(int64_t number)
{
	if (number < 0 || number >= (int64_t)(sizeof(names) / sizeof(names[0])))
		return (struct call_name){0};
	return names[number];
}
