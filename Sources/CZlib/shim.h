// Debian's zlib1g-dev: compression and checksums of NorrisCards' pictures, documented in zlib.h.
#pragma once
#include <zlib.h>
