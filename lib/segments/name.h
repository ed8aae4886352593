/*
 * Names of segments (rotation.h): for templates with one file per segment, and
 * for directories of segments.
 */
#ifndef PROF_SEGMENTS_NAME_H
#define PROF_SEGMENTS_NAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Replaces %t in a template for output_open() by the local time with hundredths
 * of a second: 20261124-18241527. Without %t and %n, inserts ".%t" before the
 * extension like perf record: "prof.pb.gz" becomes
 * "prof.20261124-18241527.pb.gz". The caller frees the result.
 */
char *segment_template(const char *template, uint64_t unix_ns);
/*
 * Returns the common prefix of the names of a template's segments, without
 * directory: "prof.". Returns "" if the template is the name of a segment in a
 * directory. The caller frees the result.
 */
char *segment_prefix(const char *template);

/*
 * Writes the name of a segment in a directory of segments: the UTC second in
 * which it starts, as "20261124T140500Z.pb.gz". Names in UTC sort by time even
 * when daylight saving time ends, and are comparable between machines.
 */
enum { SEGMENT_NAME_BYTES = sizeof("20261124T140500Z.pb.gz") };
void segment_name(uint64_t unix_ns, char ret[SEGMENT_NAME_BYTES]);
/* Parses such a name. Returns false if it is not the name of a segment. */
bool segment_name_time(const char *name, uint64_t *ret_unix_ns);

#endif
