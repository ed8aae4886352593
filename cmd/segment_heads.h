/*
 * What the beginnings of segments tell (pprof/head.h): when exactly they were recorded, and which
 * segments a merged one contains (segment_merging.h). A segment that a merged one contains may
 * still lie beside it, if prof was killed before it could remove it: its samples must count once.
 */
#ifndef PROF_CMD_SEGMENT_HEADS_H
#define PROF_CMD_SEGMENT_HEADS_H

#include "cmd/segment_files.h"

/* A file that is damaged, gone or of another program stays as one that was not merged. */
void segment_head_read(const struct output_directory *directory, struct segment_file *file);
/* Of all of them, on all CPUs. */
void segment_heads_read(const struct output_directory *directory, struct segment_files *files);

/* After segment_heads_read(): moves the files that merged ones contain to *ret. */
void segment_heads_take_contained(struct segment_files *files, struct segment_files *ret);
/* After segment_heads_read(): whether a merged file contains the segment of that name. */
bool segment_heads_contain(const struct segment_files *files, uint64_t unix_ns);

#endif
