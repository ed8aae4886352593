#include "perf/bpf.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of the kernel (include/linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE 0xeffffffcU

/* Linux 5.5; missing in older headers. */
enum { MAP_IS_MMAPABLE = 1 << 10 };

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

bool bpf_array_open(struct bpf_array *array, size_t item_bytes, size_t count)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = (uint32_t)item_bytes,
		.max_entries = (uint32_t)count,
		.map_flags = MAP_IS_MMAPABLE,
	};
	void *at;

	*array = (struct bpf_array){.fd = bpf(BPF_MAP_CREATE, &attr), .bytes = item_bytes * count};
	if (array->fd < 0)
		return false;
	at = mmap(NULL, array->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, array->fd, 0);
	if (at == MAP_FAILED)
		return false;
	/* A child would only pay for the page table. */
	madvise(at, array->bytes, MADV_DONTFORK);
	array->at = at;
	return true;
}

void bpf_array_close(struct bpf_array *array)
{
	close_fd(&array->fd);
	if (array->at)
		munmap(array->at, array->bytes);
	array->at = NULL;
}

int bpf_events_open(size_t cpu_count)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint32_t),
		.max_entries = (uint32_t)cpu_count,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

bool bpf_events_put(int events, unsigned cpu, int fd)
{
	uint32_t key = cpu, value = (uint32_t)fd;
	union bpf_attr attr = {
		.map_fd = (uint32_t)events,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&value,
	};

	return bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

void bpf_append(struct bpf_code *code, const struct bpf_insn *insns, size_t count)
{
	assert(code->count + count <= BPF_CODE_MAX);
	memcpy(code->insns + code->count, insns, count * sizeof(*insns));
	code->count += count;
}

int bpf_load(enum bpf_prog_type type, const struct bpf_code *code)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)code->insns,
		.insn_cnt = (uint32_t)code->count,
		.license = (uintptr_t) "Dual MIT/GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

bool bpf_is_in_first_pid_namespace(void)
{
	struct stat of;

	return stat("/proc/self/ns/pid", &of) == 0 && of.st_ino == FIRST_PID_NAMESPACE;
}
