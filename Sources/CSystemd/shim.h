// Debian's libsystemd-dev: the functions SystemdIntegration wraps, and no others, are documented in
// sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3) and sd_journal_sendv(3).
#pragma once
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
