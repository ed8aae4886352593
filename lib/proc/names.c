#include "proc/names.h"
