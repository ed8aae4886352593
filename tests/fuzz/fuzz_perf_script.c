/* Fuzzes the text of perf script. Profiles that were read must be writable, as
 * folded stacks and as this text. */
#include "format/perf_script/fields.h"
#include "formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options options = {.folded.annotate = true, .folded.show_tid = true};
	const struct format_options chosen = {
		.script.fields = SCRIPT_DEFAULT_FIELDS | SCRIPT_SRCLINE, .script.no_inlines = true};
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file)
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");
	CLEANUP(error_cleanup) struct error *err = format_perf_script.read(in, profile);

	note_number("recognized", format_perf_script.recognize(data, size < 512 ? size : 512));
	if (err)
		return 0;
	note_text("problems", profile_get_info(profile)->problems);
	write_as(&format_folded, profile, &options);
	write_as(&format_perf_script, profile, &options);
	write_as(&format_perf_script, profile, &chosen);
	return 0;
}
