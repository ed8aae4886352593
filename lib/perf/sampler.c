#include "perf/sampler.h"
