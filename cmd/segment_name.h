/* Names of segments (rotation.h): of those that one template gives a file each, and of those in a
 * directory. */
#ifndef PROF_CMD_SEGMENT_NAME_H
#define PROF_CMD_SEGMENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A template for output_open() in which %t is replaced by the local time, with hundredths of a
 * second: 20261124-18241527. Without %t and %n it gets ".%t" before its extension, as perf record
 * appends it: "prof.pb.gz" is "prof.20261124-18241527.pb.gz". To be freed.
 */
char *segment_template(const char *template, uint64_t unix_ns);
/* What the names of all segments of a template begin with, without directory: "prof."; "" of a
 * template that is the name of a segment in a directory. To be freed.
 */
char *segment_prefix(const char *template);

/*
 * The name of a segment in a directory of segments: the second of UTC in which it begins, as
 * "20261124T140500Z.pb.gz". UTC, because names then sort by time when local time is set back in
 * autumn, and because the segments of all machines of a fleet compare.
 */
enum { SEGMENT_NAME_BYTES = sizeof("20261124T140500Z.pb.gz") };
void segment_name(uint64_t unix_ns, char ret[SEGMENT_NAME_BYTES]);
/* The time that such a name tells. False: it is the name of another file. */
bool segment_name_time(const char *name, uint64_t *ret_unix_ns);

#endif
