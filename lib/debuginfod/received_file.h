/* What a downloader has sent as a file. */
#ifndef PROF_DEBUGINFOD_RECEIVED_FILE_H
#define PROF_DEBUGINFOD_RECEIVED_FILE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether it is a readable regular file of at most max_bytes. Takes a second at most, also where
 * its file system does not answer (base/timed_call.h).
 */
bool received_file_is_usable(int fd, uint64_t max_bytes, uint64_t *bytes);

#endif
