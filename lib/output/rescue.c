#include "output/rescue.h"

#include "base/alloc.h"
#include "output/file.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

static struct error *write_to(const char *path, output_rescue_write *write, void *user)
{
	CLEANUP(output_place_deinit) struct output_place place = OUTPUT_PLACE_INIT;
	CLEANUP(output_file_discard) struct output_file file = OUTPUT_FILE_INIT;
	struct error *old_lost = NULL;
	struct error *err = output_place_find(path, &place);

	if (!err)
		err = output_file_create(&place, &file);
	if (!err)
		err = write(user, file.fd);
	if (!err)
		err = output_file_publish(&file, &place, -1, &old_lost);
	error_free(old_lost);
	return err;
}

char *output_rescue(const char *name, output_rescue_write *write, void *user)
{
	const char *folders[] = {".", getenv("TMPDIR"), "/tmp"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		CLEANUP(free_ptr) char *path = NULL;
		CLEANUP(error_cleanup) struct error *err = NULL;
		uint32_t number = 0;

		if (!folders[i] || getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
			continue;
		path = xasprintf("%s/prof-%08x-%s", folders[i], number, name);
		err = write_to(path, write, user);
		if (!err)
			return STEAL(path);
	}
	return NULL;
}
