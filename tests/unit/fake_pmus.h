/*
 * Makes a sysfs for tests, as on different machines: files below `folder`
 * (folder.h).
 */
#ifndef PROF_TESTS_UNIT_FAKE_PMUS_H
#define PROF_TESTS_UNIT_FAKE_PMUS_H

#include "folder.h"
#include "perf/pmu.h"

/* The lines of a sysfs: "PATH=TEXT", where a newline ends the text in the file. */
static inline void write_pmus(const char *const *files)
{
	for (; *files; files++) {
		const char *equals = strchr(*files, '=');
		CLEANUP(free_ptr) char *name = xstrndup(*files, (size_t)(equals - *files));
		CLEANUP(free_ptr) char *text = xasprintf("%s\n", equals + 1);

		write_file(name, text, strlen(text));
	}
}

static inline struct pmus read_pmus(const char *const *files)
{
	struct pmus pmus;

	write_pmus(files);
	pmus_read(folder, &pmus);
	return pmus;
}

static const char *const software_pmus[] = {
	"software/type=1",
	"tracepoint/type=2",
	"breakpoint/type=5",
	"msr/type=9",
	"msr/format/event=config:0-63",
	"msr/events/tsc=event=0x00",
	"uprobe/type=8",
	"uprobe/format/retprobe=config:0",
	"uprobe/format/ref_ctr_offset=config:32-63",
	NULL,
};

static const char *const intel_pmus[] = {
	"cpu/type=4",
	"cpu/format/event=config:0-7",
	"cpu/format/umask=config:8-15",
	"cpu/format/edge=config:18",
	"cpu/format/inv=config:23",
	"cpu/format/cmask=config:24-31",
	"cpu/format/offcore_rsp=config1:0-63",
	"cpu/format/ldlat=config1:0-15",
	"cpu/events/mem-loads=event=0xcd,umask=0x1,ldlat=3",
	"cpu/events/mem-loads.scale=1",
	"cpu/events/cpu-cycles=event=0x3c",
	"uncore_imc_0/type=20",
	"uncore_imc_0/cpumask=0",
	"uncore_imc_0/format/event=config:0-7",
	"uncore_imc_0/events/data_reads=event=0x50",
	"power/type=21",
	"power/cpumask=0",
	"power/format/event=config:0-7",
	"power/events/energy-pkg=event=0x02",
	"power/events/energy-pkg.unit=Joules",
	NULL,
};

static const char *const amd_pmus[] = {
	"cpu/type=4",
	"cpu/format/event=config:0-7,32-35",
	"cpu/format/umask=config:8-15",
	"cpu/format/cmask=config:24-31",
	"cpu/events/branch-misses=event=0xc3",
	"ibs_op/type=11",
	"ibs_op/format/cnt_ctl=config:19",
	"amd_l3/type=12",
	"amd_l3/cpumask=0",
	NULL,
};

static const char *const alder_lake_pmus[] = {
	"cpu_core/type=4",
	"cpu_core/cpus=0",
	"cpu_core/format/event=config:0-7",
	"cpu_core/format/umask=config:8-15",
	"cpu_core/format/ldlat=config1:0-15",
	"cpu_core/events/mem-loads=event=0xcd,umask=0x1,ldlat=3",
	"cpu_atom/type=10",
	"cpu_atom/cpus=1",
	"cpu_atom/format/event=config:0-7",
	"cpu_atom/format/umask=config:8-15",
	"software/type=1",
	NULL,
};

static const char *const apple_pmus[] = {
	"apple_icestorm_pmu/type=9",
	"apple_icestorm_pmu/cpus=0",
	"apple_icestorm_pmu/format/event=config:0-7",
	"apple_icestorm_pmu/events/cycles=event=0x2",
	"apple_firestorm_pmu/type=10",
	"apple_firestorm_pmu/cpus=1",
	"apple_firestorm_pmu/format/event=config:0-7",
	"apple_firestorm_pmu/events/cycles=event=0x2",
	NULL,
};

#endif
