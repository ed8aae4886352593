/*
 * Scales weights to one iteration, for profiles of benchmarks that criterion
 * ran for a fixed time.
 *
 * The CPU time of such a benchmark does not depend on its speed. But `cargo
 * bench` without --profile-time writes the time per iteration next to the
 * profile: BENCHMARK/new/estimates.json, where the profile is
 * BENCHMARK/profile/profile.pb.gz or BENCHMARK/profile.pb.gz. Weights are
 * scaled so that the weight of each profile is the time of one iteration.
 */
#ifndef PROF_CMD_DIFF_DIFF_ITERATIONS_H
#define PROF_CMD_DIFF_DIFF_ITERATIONS_H

#include "cmd/diff/diff_files.h"

/* Call it after diff_files_choose_event(). Returns false and changes nothing if
 * a file has no estimate, or if the event does not measure time. */
bool diff_iterations_scale(struct diff_files *files);

#endif
