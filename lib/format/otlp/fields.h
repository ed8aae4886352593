/*
 * Field numbers of OTLP profiles (v1development) that prof writes or reads.
 * Source: opentelemetry-proto 1.11,
 * opentelemetry/proto/profiles/v1development/profiles.proto,
 * collector/profiles/v1development/profiles_service.proto,
 * common/v1/common.proto.
 */
#ifndef PROF_FORMAT_OTLP_FIELDS_H
#define PROF_FORMAT_OTLP_FIELDS_H

/* ExportProfilesServiceRequest */
enum otlp_request_field { OTLP_REQUEST_RESOURCE_PROFILES = 1, OTLP_REQUEST_DICTIONARY };
/* ExportProfilesServiceResponse, ExportProfilesPartialSuccess */
enum otlp_response_field { OTLP_RESPONSE_PARTIAL_SUCCESS = 1 };
enum otlp_partial_field { OTLP_PARTIAL_REJECTED = 1, OTLP_PARTIAL_MESSAGE };

/* ProfilesDictionary */
enum otlp_dictionary_field {
	OTLP_DICTIONARY_MAPPING = 1,
	OTLP_DICTIONARY_LOCATION,
	OTLP_DICTIONARY_FUNCTION,
	OTLP_DICTIONARY_LINK,
	OTLP_DICTIONARY_STRING,
	OTLP_DICTIONARY_ATTRIBUTE,
	OTLP_DICTIONARY_STACK,
};

/* ResourceProfiles, Resource, ScopeProfiles, InstrumentationScope */
enum otlp_resource_profiles_field { OTLP_RESOURCE_RESOURCE = 1, OTLP_RESOURCE_SCOPE_PROFILES };
enum otlp_resource_field { OTLP_RESOURCE_ATTRIBUTE = 1 };
enum otlp_scope_profiles_field { OTLP_SCOPE_SCOPE = 1, OTLP_SCOPE_PROFILE };
enum otlp_scope_field { OTLP_SCOPE_NAME = 1 };

/* KeyValue, AnyValue, KeyValueAndUnit */
enum otlp_key_value_field { OTLP_KEY_VALUE_KEY = 1, OTLP_KEY_VALUE_VALUE };
enum otlp_any_field { OTLP_ANY_STRING = 1, OTLP_ANY_INT = 3 };
enum otlp_attribute_field { OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE, OTLP_ATTRIBUTE_UNIT };

enum otlp_profile_field {
	OTLP_PROFILE_SAMPLE_TYPE = 1,
	OTLP_PROFILE_SAMPLE,
	OTLP_PROFILE_TIME,
	OTLP_PROFILE_DURATION,
	OTLP_PROFILE_PERIOD_TYPE,
	OTLP_PROFILE_PERIOD,
	OTLP_PROFILE_ID,
};

/* ValueType */
enum otlp_type_field { OTLP_TYPE_TYPE = 1, OTLP_TYPE_UNIT };

enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES,
	OTLP_SAMPLE_VALUES = 4,
	OTLP_SAMPLE_TIMESTAMPS,
};

enum otlp_mapping_field {
	OTLP_MAPPING_START = 1,
	OTLP_MAPPING_LIMIT,
	OTLP_MAPPING_OFFSET,
	OTLP_MAPPING_FILENAME,
	OTLP_MAPPING_ATTRIBUTES,
};

enum otlp_stack_field { OTLP_STACK_LOCATIONS = 1 };

enum otlp_location_field {
	OTLP_LOCATION_MAPPING = 1,
	OTLP_LOCATION_ADDRESS,
	OTLP_LOCATION_LINE,
	OTLP_LOCATION_ATTRIBUTES,
};

enum otlp_line_field { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE };

enum otlp_function_field {
	OTLP_FUNCTION_NAME = 1,
	OTLP_FUNCTION_SYSTEM_NAME,
	OTLP_FUNCTION_FILENAME,
	OTLP_FUNCTION_START_LINE,
};

#endif
