/* Names of segments, which one template gives a file each (rotation.h). */
#ifndef PROF_CMD_SEGMENT_NAME_H
#define PROF_CMD_SEGMENT_NAME_H

#include <stdint.h>

/*
 * A template for output_open() in which %t is replaced by the local time, with hundredths of a
 * second: 20261124-18241527. Without %t and %n it gets ".%t" before its extension, as perf record
 * appends it: "prof.pb.gz" is "prof.20261124-18241527.pb.gz". To be freed.
 */
char *segment_template(const char *template, uint64_t unix_ns);
/* What the names of all segments of a template begin with, without directory: "prof.". To be freed.
 */
char *segment_prefix(const char *template);

#endif
