#include "waiting/call_names.h"

#include <sys/syscall.h>

static const struct call_name call_names[] = {
#include "waiting/call_table.h"
};

struct call_name call_name(int64_t number)
{
	if (number < 0 || number >= (int64_t)(sizeof(call_names) / sizeof(call_names[0])))
		return (struct call_name){0};
	return call_names[number];
}
