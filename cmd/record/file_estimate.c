#include "cmd/record/file_estimate.h"

#include <sys/stat.h>

/* The ratio for pprof files before one was written. */
#define USUAL_BYTES_PER_BYTE 0.1

void file_estimate_init(struct file_estimate *estimate)
{
	*estimate = (struct file_estimate){.bytes_per_byte = USUAL_BYTES_PER_BYTE};
}

static uint64_t file_estimate_memory_of(const struct profile *profile)
{
	return profile_memory_bytes(profile) +
	       profile_timed_samples(profile).count * sizeof(struct profile_timed_sample) +
	       profile_intervals(profile).count * sizeof(struct profile_interval);
}

static uint64_t file_estimate_size_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static double proportion(uint64_t bytes, uint64_t memory)
{
	return (double)bytes / (double)(memory + 1);
}

void file_estimate_begin(struct file_estimate *estimate, const struct profile *profile)
{
	estimate->memory = file_estimate_memory_of(profile);
}

void file_estimate_learn(struct file_estimate *estimate, uint64_t bytes)
{
	estimate->bytes_per_byte = proportion(bytes, estimate->memory);
}

static void learn_from_checkpoint(struct file_estimate *estimate, const struct outputs *outputs,
				  uint64_t memory)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < outputs->count; i++)
		bytes += file_estimate_size_of(outputs->items[i].checkpoint);
	if (bytes != estimate->checkpoint_bytes)
		estimate->bytes_per_byte = proportion(bytes, memory);
	estimate->checkpoint_bytes = bytes;
}

uint64_t file_estimate_bytes(struct file_estimate *estimate, const struct outputs *outputs,
			     const struct profile *profile)
{
	uint64_t memory = file_estimate_memory_of(profile);

	learn_from_checkpoint(estimate, outputs, memory);
	for (size_t i = 0; i < outputs->count; i++)
		if (outputs->items[i].format->write)
			return (uint64_t)((double)memory * estimate->bytes_per_byte);
	return 0;
}

uint64_t file_estimate_raw_bytes(const struct outputs *outputs)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < outputs->count; i++)
		if (!outputs->items[i].format->write)
			bytes += file_estimate_size_of(outputs->items[i].file.fd);
	return bytes;
}
