/*
 * Field numbers of a pprof profile's messages that prof reads or writes.
 * *_FIELDS is one more than the last number. Source:
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 */
#ifndef PROF_FORMAT_PPROF_FIELDS_H
#define PROF_FORMAT_PPROF_FIELDS_H

enum pprof_profile_field {
	PPROF_PROFILE_SAMPLE_TYPE = 1,
	PPROF_PROFILE_SAMPLE,
	PPROF_PROFILE_MAPPING,
	PPROF_PROFILE_LOCATION,
	PPROF_PROFILE_FUNCTION,
	PPROF_PROFILE_STRING,
	PPROF_PROFILE_DROP_FRAMES,
	PPROF_PROFILE_KEEP_FRAMES,
	PPROF_PROFILE_TIME,
	PPROF_PROFILE_DURATION,
	PPROF_PROFILE_PERIOD_TYPE,
	PPROF_PROFILE_PERIOD,
	PPROF_PROFILE_COMMENT,
	PPROF_PROFILE_DEFAULT_TYPE,
	PPROF_PROFILE_DOC_URL,
	PPROF_PROFILE_FIELDS,
	/*
	 * An extension of prof, like PPROF_SAMPLE_TIMES: the segments that were
	 * merged into the file. It is a packed list of the seconds at which
	 * they start. The first is relative to 1970, the others to the previous
	 * one.
	 */
	PPROF_PROFILE_SEGMENTS = 1500
};

/* ValueType */
enum pprof_type_field { PPROF_TYPE_TYPE = 1, PPROF_TYPE_UNIT, PPROF_TYPE_FIELDS };

enum pprof_sample_field {
	PPROF_SAMPLE_LOCATION = 1,
	PPROF_SAMPLE_VALUE,
	PPROF_SAMPLE_LABEL,
	/*
	 * An extension of prof, which other readers skip according to the
	 * protobuf specification: the times of the samples that the first value
	 * counts, ascending. It is a packed list of milliseconds. The first is
	 * relative to the start of the profile, the others to the previous one.
	 */
	PPROF_SAMPLE_TIMES = 1500
};

enum pprof_label_field {
	PPROF_LABEL_KEY = 1,
	PPROF_LABEL_STR,
	PPROF_LABEL_NUM,
	PPROF_LABEL_NUM_UNIT,
	PPROF_LABEL_FIELDS
};

enum pprof_mapping_field {
	PPROF_MAPPING_ID = 1,
	PPROF_MAPPING_START,
	PPROF_MAPPING_LIMIT,
	PPROF_MAPPING_OFFSET,
	PPROF_MAPPING_FILENAME,
	PPROF_MAPPING_BUILD_ID,
	PPROF_MAPPING_HAS_FUNCTIONS,
	PPROF_MAPPING_HAS_FILENAMES,
	PPROF_MAPPING_HAS_LINE_NUMBERS,
	PPROF_MAPPING_HAS_INLINE_FRAMES,
	PPROF_MAPPING_FIELDS
};

enum pprof_location_field {
	PPROF_LOCATION_ID = 1,
	PPROF_LOCATION_MAPPING,
	PPROF_LOCATION_ADDRESS,
	PPROF_LOCATION_LINE,
	PPROF_LOCATION_FIELDS
};

enum pprof_line_field { PPROF_LINE_FUNCTION = 1, PPROF_LINE_LINE, PPROF_LINE_FIELDS };

enum pprof_function_field {
	PPROF_FUNCTION_ID = 1,
	PPROF_FUNCTION_NAME,
	PPROF_FUNCTION_SYSTEM_NAME,
	PPROF_FUNCTION_FILENAME,
	PPROF_FUNCTION_START_LINE,
	PPROF_FUNCTION_FIELDS
};

#endif
