// Debian's libpng-dev, on which libpango1.0-dev depends: the PNG files of NorrisCards, documented in libpng(3). The
// strategies of compression are those of zlib.h.
#pragma once
#include <png.h>
#include <zlib.h>
