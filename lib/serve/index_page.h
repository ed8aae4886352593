/*
 * The page at /debug/pprof/: the running processes, with links to record each.
 */
#ifndef PROF_SERVE_INDEX_PAGE_H
#define PROF_SERVE_INDEX_PAGE_H

#include "serve/processes.h"

enum { INDEX_PROCESSES_MAX = 200 };

/*
 * processes: sorted by processes_compare(). user: shows only processes of this
 * user; 0 means all. The caller frees the result.
 */
char *index_page(const struct processes *processes, uid_t user);

#endif
