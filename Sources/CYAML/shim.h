// Debian's libyaml-dev: the parser of the configuration file, documented in its header and in
// <https://pyyaml.org/wiki/LibYAML>.
#pragma once
#include <yaml.h>
