/*
 * Validates a file that a downloader has sent.
 */
#ifndef PROF_DEBUGINFOD_RECEIVED_FILE_H
#define PROF_DEBUGINFOD_RECEIVED_FILE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether fd is a readable regular file of at most max_bytes. Takes at
 * most a second, even if its file system is unresponsive (base/timed_call.h).
 */
bool received_file_is_usable(int fd, uint64_t max_bytes, uint64_t *bytes);

#endif
