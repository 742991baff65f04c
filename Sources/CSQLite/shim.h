// Debian's libsqlite3-dev: the databases of NorrisStore, documented in <https://sqlite.org/c3ref/intro.html>.
#pragma once
#include <sqlite3.h>

// Swift calls no variadic functions, and cannot cast numbers to function pointers.

static inline int norris_sqlite_forbid_double_quoted_strings(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    return code ? code : sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

// SQLite copies the bytes before the call returns, and refuses too many of them (SQLITE_TOOBIG).
static inline int norris_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int norris_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
