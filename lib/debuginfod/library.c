#include "debuginfod/library.h"

#include <dlfcn.h>
#include <string.h>

#ifdef PROF_STATIC

const char debuginfod_library_lack[] =
	"a statically linked prof cannot load libdebuginfod (use one that is not)";

bool debuginfod_library_load(struct debuginfod_library *ret)
{
	*ret = (struct debuginfod_library){0};
	return false;
}

void *debuginfod_user_data(debuginfod_client *client)
{
	(void)client;
	return NULL;
}

#else

static const char name_of_library[] = "libdebuginfod.so.1";

const char debuginfod_library_lack[] =
	"libdebuginfod is not installed (apt install libdebuginfod1)";

/* ISO C has no cast from a data pointer to a function pointer. */
static bool debuginfod_library_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
	return found;
}

bool debuginfod_library_load(struct debuginfod_library *ret)
{
	void *library = dlopen(name_of_library, RTLD_NOW | RTLD_LOCAL);

	return library && debuginfod_library_find(library, "debuginfod_begin", &ret->begin) &&
	       debuginfod_library_find(library, "debuginfod_find_debuginfo",
				       &ret->find_debuginfo) &&
	       debuginfod_library_find(library, "debuginfod_find_source", &ret->find_source) &&
	       debuginfod_library_find(library, "debuginfod_set_progressfn", &ret->set_progress) &&
	       debuginfod_library_find(library, "debuginfod_set_user_data", &ret->set_user_data) &&
	       debuginfod_library_find(library, "debuginfod_get_url", &ret->get_url);
}

void *debuginfod_user_data(debuginfod_client *client)
{
	void *library = dlopen(name_of_library, RTLD_NOW | RTLD_NOLOAD);
	void *(*get_user_data)(debuginfod_client *);
	void *user = NULL;

	if (library && debuginfod_library_find(library, "debuginfod_get_user_data", &get_user_data))
		user = get_user_data(client);
	if (library)
		dlclose(library);
	return user;
}

#endif
