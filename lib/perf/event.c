#include "perf/event.h"
