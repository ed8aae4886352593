#include "proc/space.h"
