/*
 * Loads libcurl on demand. Its interface is declared here, so that prof builds
 * without its headers. Option numbers are part of its ABI. Source: curl/curl.h,
 * libcurl-easy(3).
 */
#ifndef PROF_PUSH_CURL_H
#define PROF_PUSH_CURL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct curl_handle curl_handle;
typedef struct curl_headers curl_headers;

/* CURLOPT_* numbers whose value is a long. */
enum curl_number_option {
	CURL_POST = 47,
	CURL_FOLLOW_LOCATION = 52,
	CURL_NO_SIGNAL = 99,
	CURL_TIMEOUT_MS = 155,
	CURL_PROTOCOLS = 181, /* CURL_HTTP_AND_HTTPS */
};
enum { CURL_HTTP_AND_HTTPS = 1 << 0 | 1 << 1 };
/* CURLOPT_* numbers whose value is a pointer. */
enum curl_pointer_option {
	CURL_WRITE_DATA = 10001,
	CURL_URL = 10002,
	CURL_POST_FIELDS = 10015,
	CURL_USER_AGENT = 10018,
	CURL_CA_FILE = 10065,
	CURL_HEADERS = 10023,	     /* curl_headers * */
	CURL_WRITE_FUNCTION = 20011, /* curl_write * */
};
/* CURLOPT_* numbers whose value is an int64_t. */
enum curl_offset_option { CURL_POST_FIELD_BYTES = 30120 };
/* CURLINFO_* numbers, whose values are a long and an int64_t. */
enum curl_info { CURL_RESPONSE_CODE = 0x200002, CURL_RETRY_AFTER = 0x600039 };

/* CURLE_PEER_FAILED_VERIFICATION: the server's certificate is not trusted. */
enum { CURL_UNTRUSTED = 60 };

/* Takes size * count bytes and returns their number. Any other result ends the
 * transfer. */
typedef size_t curl_write(char *bytes, size_t size, size_t count, void *user);

struct curl_library {
	curl_handle *(*begin)(void);
	int (*set)(curl_handle *handle, int option, ...);
	int (*perform)(curl_handle *handle);
	int (*get)(curl_handle *handle, int info, ...);
	const char *(*error_text)(int error);
	/* Appends a copy of the line and returns the new list. NULL is the
	 * empty list. */
	curl_headers *(*add_header)(curl_headers *headers, const char *line);
};

/* Returns false if libcurl is not installed. */
bool curl_library_load(struct curl_library *ret);
/* The reason why it cannot be loaded and the fix, for a message. */
extern const char curl_library_lack[];

#endif
