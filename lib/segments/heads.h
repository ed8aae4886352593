/*
 * Reads the heads of segments (pprof/head.h): the exact time range, and the
 * segments that a merged one contains (segment_merging.h).
 *
 * If prof is killed while it merges, a contained segment can still exist next
 * to the merged one. Its samples must be counted only once.
 */
#ifndef PROF_SEGMENTS_HEADS_H
#define PROF_SEGMENTS_HEADS_H

#include "segments/files.h"

/* Reads the head of a file. A file that is missing, damaged or written by
 * another program counts as not merged. */
void segment_head_read(const struct output_directory *directory, struct segment_file *file);
/* Reads the heads of all files, on all CPUs. */
void segment_heads_read(const struct output_directory *directory, struct segment_files *files);

/* Moves the files that are contained in merged ones to *ret. Must be called
 * after segment_heads_read(). */
void segment_heads_take_contained(struct segment_files *files, struct segment_files *ret);
/* Whether a merged file contains the segment that starts at unix_ns. Must be
 * called after segment_heads_read(). */
bool segment_heads_contain(const struct segment_files *files, uint64_t unix_ns);

#endif
