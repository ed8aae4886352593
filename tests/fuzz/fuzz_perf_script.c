/* Any bytes as the text of perf script. What is read can be written, and reports are made of it. */
#include "formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file)
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");
	CLEANUP(error_cleanup) struct error *err = format_perf_script.read(in, profile);

	note_number("recognized", format_perf_script.recognize(data, size < 512 ? size : 512));
	if (err)
		return 0;
	note_text("remarks", profile_get_info(profile)->remarks);
	write_everything(profile, NULL);
	return 0;
}
