/*
 * loads HOW …
 *
 * Loads allocating_plugin.so, which only the RUNPATH of this program finds, in
 * each of these ways. Calls its function if there is a handle, and prints
 * whether there was one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PLUGIN "allocating_plugin.so"

static void *load(const char *how)
{
	if (!strcmp(how, "plain"))
		return dlopen(PLUGIN, RTLD_NOW);
	if (!strcmp(how, "base"))
		return dlmopen(LM_ID_BASE, PLUGIN, RTLD_NOW);
	if (!strcmp(how, "itself"))
		return dlopen(NULL, RTLD_NOW | RTLD_DEEPBIND);
	if (!strcmp(how, "if_loaded"))
		return dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD | RTLD_DEEPBIND);
	if (!strcmp(how, "deepbind"))
		return dlopen(PLUGIN, RTLD_NOW | RTLD_DEEPBIND);
	if (!strcmp(how, "base_deepbind"))
		return dlmopen(LM_ID_BASE, PLUGIN, RTLD_NOW | RTLD_DEEPBIND);
	if (!strcmp(how, "namespace"))
		return dlmopen(LM_ID_NEWLM, PLUGIN, RTLD_NOW);
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *handle = load(argv[i]);
		void (*allocate)(double) = handle ? dlsym(handle, "plugin_allocates") : NULL;

		if (allocate)
			allocate(0.01);
		printf("%s %d\n", argv[i], handle != NULL);
		if (handle)
			dlclose(handle);
	}
	return 0;
}
