/*
 * Loads libdebuginfod of elfutils on demand. Its functions find files in its
 * cache, or request them from the servers of DEBUGINFOD_URLS.
 *
 * Source: debuginfod_find_debuginfo(3), elfutils/debuginfod.h.
 */
#ifndef PROF_DEBUGINFOD_LIBRARY_H
#define PROF_DEBUGINFOD_LIBRARY_H

#include <stdbool.h>

typedef struct debuginfod_client debuginfod_client;

/* Returns non-zero to end the download. b is 0 while the size is unknown. */
typedef int debuginfod_progress(debuginfod_client *client, long a, long b);

struct debuginfod_library {
	debuginfod_client *(*begin)(void);
	/* Both return a descriptor or a negative errno. The caller frees
	 * *path. */
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id,
			      int build_id_len, char **path);
	int (*find_source)(debuginfod_client *client, const unsigned char *build_id,
			   int build_id_len, const char *source, char **path);
	void (*set_progress)(debuginfod_client *client, debuginfod_progress *progress);
	void (*set_user_data)(debuginfod_client *client, void *user);
	const char *(*get_url)(debuginfod_client *client);
};

/* Returns false if it is not installed or older than 0.181. */
bool debuginfod_library_load(struct debuginfod_library *ret);
/* A message clause with the reason why it cannot be loaded and the fix. */
extern const char debuginfod_library_lack[];
/* Returns the argument of set_user_data(), the only data that the progress
 * function can get. */
void *debuginfod_user_data(debuginfod_client *client);

#endif
