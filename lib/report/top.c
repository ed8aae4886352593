#include "report/top.h"
