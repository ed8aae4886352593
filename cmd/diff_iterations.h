/*
 * Weights per iteration, for profiles of benchmarks that criterion ran for a fixed time.
 *
 * Their CPU time says nothing about their speed, but `cargo bench` without --profile-time leaves
 * the time per iteration beside the profile: BENCHMARK/new/estimates.json, where the profile is
 * BENCHMARK/profile/profile.pb.gz or BENCHMARK/profile.pb.gz. So weights are scaled such that each
 * profile weighs as much as one iteration takes.
 */
#ifndef PROF_CMD_DIFF_ITERATIONS_H
#define PROF_CMD_DIFF_ITERATIONS_H

#include "cmd/diff_files.h"

/* After diff_files_choose_event(). False, with nothing changed: not all files have an estimate, or
 * the event does not measure time. */
bool diff_iterations_scale(struct diff_files *files);

#endif
