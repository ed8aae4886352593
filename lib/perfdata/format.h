/*
 * The perf.data file format, as far as kernel headers do not define it.
 *
 * A file starts with a struct perfdata_header. Then follow the events (each a
 * perf_event_attr and the section of its ids), the records, and a table of
 * sections with one for each bit in `features`, in the order of the bits. In
 * the pipe format the header has only magic and size, and records carry the
 * contents of the sections.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROF_PERFDATA_FORMAT_H
#define PROF_PERFDATA_FORMAT_H

#include <stdint.h>

#define PERFDATA_MAGIC UINT64_C(0x32454c4946524550) /* "PERFILE2" */
/* The other byte order. */
#define PERFDATA_MAGIC_SWAPPED UINT64_C(0x50455246494c4532)
#define PERFDATA_MAGIC_OLD UINT64_C(0x454c494646524550) /* "PERFFILE", before Linux 3.1 */

struct perfdata_section {
	uint64_t offset, size_bytes;
};

struct perfdata_header {
	uint64_t magic;
	/* Size of this header: 104, or 16 in the pipe format. */
	uint64_t size_bytes;
	/* Size of one event: the attribute, whose size depends on the version
	 * of perf, and a section. */
	uint64_t event_bytes;
	struct perfdata_section events;
	struct perfdata_section data;
	struct perfdata_section event_types; /* no longer used */
	uint64_t features[4];
};

enum { PERFDATA_PIPE_HEADER_BYTES = 16, PERFDATA_FEATURES = 256 };

enum perfdata_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_DIR_FORMAT = 24,
};

/* Types of records that perf itself writes. The kernel's types are below 64. */
enum perfdata_record {
	PERFDATA_FIRST_TYPE = 64,
	PERFDATA_ATTR = 64, /* an attribute and its ids */
	/* u32: number of bytes that follow outside the record. */
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68, /* all rings have been read once */
	PERFDATA_AUXTRACE_INFO = 70,  /* u32: type of the processor traces */
	/* u64: number of bytes that follow outside the record. */
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78, /* u64 kind, u64 id, the new value */
	PERFDATA_FEATURE = 80,	    /* u64 number, then the section */
	PERFDATA_COMPRESSED = 81,   /* records, compressed by zstd */
	PERFDATA_COMPRESSED2 = 83,  /* u64: number of valid bytes that follow */
};

enum { PERFDATA_UPDATE_NAME = 2 };

/* header.misc of a build-id whose length is set. */
enum { PERFDATA_MISC_BUILD_ID_SIZE = 1 << 15 };

#endif
