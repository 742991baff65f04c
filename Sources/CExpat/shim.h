// Debian's libexpat1-dev: the XML parser of feeds and OPML files, documented in
// <https://libexpat.github.io/doc/api/latest/>.
#pragma once
#include <expat.h>
