/*
 * guard: what a connection to a stranger's file may do: read ordinary tables by name. SQLite asks
 * for each access while it compiles a statement ("Compile-Time Authorization Callbacks"), so that
 * nothing that the file's schema describes is run: views, virtual tables, functions.
 */
#include <string.h>

#include "analysis/store/store_internal.h"

/* Ordinary tables, and what lists them and their columns. */
static bool guard_may_read(const struct store *store, const char *table)
{
    static const char *const lists[] = {"sqlite_master", "sqlite_schema"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(table, lists[i]) == 0) {
            return true;
        }
    }
    for (size_t t = 0; t < store->table_count; t++) {
        if (strcmp(store->tables[t].name, table) == 0) {
            return true;
        }
    }
    return false;
}

static int guard_ask(void *arg, int action, const char *first, const char *second,
                     const char *database, const char *inner)
{
    const struct store *store = arg;
    bool may = false;
    (void)database;
    (void)inner;
    switch (action) {
    case SQLITE_SELECT:
        may = true;
        break;
    case SQLITE_READ:
        may = first != NULL && guard_may_read(store, first);
        break;
    case SQLITE_FUNCTION:
        may = second != NULL && (strcmp(second, "count") == 0 || strcmp(second, "max") == 0);
        break;
    case SQLITE_PRAGMA:
        may = first != NULL && strcmp(first, "table_info") == 0;
        break;
    default:
        break;
    }
    return may ? SQLITE_OK : SQLITE_DENY;
}

void sqlite_guard(struct sqlite_connection *connection)
{
#if SQLITE_VERSION_NUMBER >= 3030000
    (void)sqlite3_drop_modules(connection->db, NULL);
#endif
    (void)sqlite3_set_authorizer(connection->db, guard_ask, connection->store);
}
