"""contrib/criterion-with-prof: a profile for each Criterion benchmark, and for a region of any program."""

import os
import subprocess

import pytest

from conftest import NOBODY
from profiles import Pprof
from time_limit import TIME_LIMIT_S

# The directories that Criterion derives from the benchmarks' names, and their functions.
BENCHMARKS = {"sort": "sort_numbers", "words": "count_words", "100 %p/odd name": "mix"}


def share(path, function):
    """Returns the share of the CPU time in stacks with this function."""
    profile = Pprof.read(path)
    profile.check()
    column = [kind for kind, _ in profile.sample_types()].index("cpu")
    within = whole = 0
    for sample in profile.message.sample:
        frames = profile.frames(sample)
        if "[not sampled]" in frames:
            continue
        whole += sample.value[column]
        within += sample.value[column] * any(frame.endswith("::" + function) for frame in frames)
    return within / whole


def environment(prof, **more):
    return {**os.environ, "PROF": str(prof.binary), "CRITERION_HOME": str(prof.folder / "criterion"), **more}


def profile(prof, benchmark):
    return prof.folder / "criterion" / benchmark / "profile" / "profile.pb.gz"


def check_profiles(prof):
    for benchmark, function in BENCHMARKS.items():
        assert share(profile(prof, benchmark), function) > 0.95, benchmark
    assert "count_words" in profile(prof, "words").with_name("profile.folded").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def benchmarks(client):
    """benchmarks(…) runs the benchmarks and returns their results, without the environment that prof sets."""

    def run(arguments, program=None, **options):
        result = subprocess.run([program or client("benchmarks"), "--bench", *arguments], check=False, capture_output=True,
                                text=True, timeout=TIME_LIMIT_S, **options)
        assert result.returncode == 0, result.stderr
        return result

    return run


def test_each_benchmark_gets_a_profile_of_its_own(prof, benchmarks):
    result = benchmarks(["--profile-time", "1"], env=environment(prof), cwd=prof.folder)
    assert "prof" not in result.stderr.replace("Profiling for", "")
    check_profiles(prof)


def test_an_ordinary_user_gets_the_profiles(ordinary, client, benchmarks):
    benchmarks(["--profile-time", "1"], ordinary.bring(client("benchmarks")), env=environment(ordinary), cwd=ordinary.folder,
               user=NOBODY, group=NOBODY, extra_groups=[])
    check_profiles(ordinary)


def test_options_of_a_name_select_a_benchmark(prof, benchmarks):
    benchmarks(["--profile-time", "1", "words"], env=environment(prof), cwd=prof.folder)
    assert os.listdir(prof.folder / "criterion") == ["words"]


def test_a_recorder_that_runs_the_benchmarks_is_used(prof, client):
    no_recorder = prof.folder / "convert"
    no_recorder.write_text(f'#!/bin/sh\n[ "$1" = convert ] && exec {prof.binary} "$@"\n', encoding="utf-8")
    no_recorder.chmod(0o755)
    prof.run("record", "--control", "auto", "-o", "rest.pb.gz", "--",
             client("benchmarks"), "--bench", "--profile-time", "1", env=environment(prof, PROF=str(no_recorder)))
    check_profiles(prof)


@pytest.mark.parametrize("recorder, reason", [("/missing/prof", "No such file or directory"), ("false", "has ended")])
def test_without_prof_the_benchmarks_run_as_they_would(prof, benchmarks, recorder, reason):
    result = benchmarks(["--profile-time", "1", "sort"], env=environment(prof, PROF=recorder), cwd=prof.folder)
    lines = [line for line in result.stderr.splitlines() if line.startswith(("prof", "criterion-with-prof"))]
    assert len(lines) == 1 and lines[0].startswith("criterion-with-prof: no profiles: ") and reason in lines[0]
    assert result.stderr.count("Profiling for") == 1
    assert not profile(prof, "sort").exists()


def test_a_profile_that_cannot_be_written_is_missing_alone(prof, benchmarks):
    folder = prof.folder / "criterion" / "sort" / "profile"
    folder.mkdir(parents=True)
    (folder / "profile.pb.gz").mkdir()
    result = benchmarks(["--profile-time", "1", "sort|words"], env=environment(prof), cwd=prof.folder)
    assert result.stderr.count("criterion-with-prof: a profile is missing: ") == 1
    assert share(profile(prof, "words"), "count_words") > 0.95


def test_measuring_starts_no_recorder(prof, benchmarks):
    result = benchmarks(["--warm-up-time", "0.1", "--measurement-time", "0.1", "--sample-size", "10", "sort"],
                        env=environment(prof, PROF="/missing"), cwd=prof.folder)
    assert "criterion-with-prof" not in result.stderr


def test_a_region_of_a_program_is_sampled_alone(prof, client):
    region = client("region")
    result = prof.run("record", "--control", "auto", "-D", "-1", "-o", "out.pb.gz", "--", region)
    assert share(prof.folder / "out.pb.gz", "primes") > 0.98
    alone = subprocess.run([region], check=True, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    assert alone.stdout == result.stdout and not alone.stderr
