/* The least that a process can do which keeps one record: it opens the store, appends a row of that
 * many bytes durably, and closes. Usage: floor <store> <bytes of the record> [keep].
 *
 * Closing folds the log into the file. With `keep` the log stays, and is begun anew when it has grown
 * long, since each process that comes after reads it to its end. */
#include <sqlite3.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static void well(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        fprintf(stderr, "floor: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

int main(int argc, char **argv) {
    static const char insert[] =
        "INSERT INTO records (seq, id, thread, actor, act, clock, data_type, namespace, kind,"
        " canonical, received_at, origin, signer, sig, chain)"
        " VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM records), randomblob(32), 'th_floor',"
        " hex(randomblob(16)), 'DO', 0, 'SCALAR', 'default', 'core.session.tool.v1', ?1, 0, 'door',"
        " 'did:key:none', randomblob(64), randomblob(32))";
    if (argc < 3) return 1;
    int keep = argc > 3;
    int bytes = atoi(argv[2]);
    char *text = malloc((size_t)bytes + 1);
    memset(text, 'x', (size_t)bytes);
    well(sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    well(sqlite3_busy_timeout(db, 10000));
    well(sqlite3_exec(db, "PRAGMA synchronous = FULL", NULL, NULL, NULL));
    well(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, NULL));
    well(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    sqlite3_stmt *statement;
    well(sqlite3_prepare_v2(db, insert, -1, &statement, NULL));
    well(sqlite3_bind_text(statement, 1, text, bytes, SQLITE_STATIC));
    well(sqlite3_step(statement));
    well(sqlite3_finalize(statement));
    well(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    char log[4096];
    struct stat found;
    snprintf(log, sizeof log, "%s-wal", argv[1]);
    if (keep && stat(log, &found) == 0 && found.st_size > 512 * 1024) {
        well(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL));
    }
    well(sqlite3_close(db));
    return 0;
}
