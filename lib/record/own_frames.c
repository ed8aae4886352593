#include "record/own_frames.h"

#include "base/alloc.h"
#include "inside/layout.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, OF_PROGRAM, OWN };

void own_frames_deinit(struct own_frames *own)
{
	free(own->modules);
	*own = (struct own_frames){0};
}

static bool own_frames_is_library(const struct module *module)
{
	const char *name = strrchr(module->path, '/');

	return name && !strcmp(name, "/" INSIDE_LIBRARY_NAME);
}

static void own_frames_make_room(struct own_frames *own, uint32_t count)
{
	if (count <= own->count)
		return;
	own->modules = xreallocarray(own->modules, count, 1);
	memset(own->modules + own->count, UNKNOWN, count - own->count);
	own->count = count;
}

bool own_frames_has(struct own_frames *own, const struct address_spaces *spaces, module_id module)
{
	if (module >= own->count)
		own_frames_make_room(own, address_spaces_module_count(spaces));
	if (own->modules[module] == UNKNOWN)
		own->modules[module] = own_frames_is_library(address_spaces_module(spaces, module))
					       ? OWN
					       : OF_PROGRAM;
	return own->modules[module] == OWN;
}
