// Debian's libexpat1-dev: the XML parser behind NorrisUpstream's feeds, documented in
// <https://libexpat.github.io/doc/api/latest/>.
#pragma once
#include <expat.h>
