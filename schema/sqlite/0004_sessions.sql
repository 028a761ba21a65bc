-- Captured sessions, one row each: where it stands. The records of its thread say the same.
CREATE TABLE sessions (
    run       TEXT    NOT NULL PRIMARY KEY,      -- the thread
    charter   BLOB    NOT NULL,                  -- the id of the record that opened it
    namespace TEXT    NOT NULL,
    life      INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,                  -- of the record of its latest event
    last_at   INTEGER NOT NULL,
    reported  INTEGER NOT NULL DEFAULT 0         -- the latest event that a report covers
) STRICT, WITHOUT ROWID;

-- Those with events that no report covers. Few, and written only when one becomes such.
CREATE TABLE sessions_unreported (
    run TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What each event was answered, so that one told twice is recorded and answered once.
CREATE TABLE session_events (
    run     TEXT    NOT NULL,
    event   BLOB    NOT NULL,                    -- what tells it from other events
    attempt TEXT    NOT NULL,                    -- of the process that told of it
    at      INTEGER NOT NULL,
    seq     INTEGER NOT NULL,                    -- of its record
    said    TEXT,                                -- the words, if there were any
    PRIMARY KEY (run, event)
) STRICT, WITHOUT ROWID;

-- Words that wait for an event that can deliver them.
CREATE TABLE session_words (
    run         TEXT    NOT NULL,
    seq         INTEGER NOT NULL,                -- of the observation: the order of the words
    observation BLOB    NOT NULL,
    rule        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- What the built-in hooks look back on: the latest answer to each call of a life, and how often in a
-- row each target came back empty.
CREATE TABLE session_answers (
    run    TEXT    NOT NULL,
    life   INTEGER NOT NULL,
    call   BLOB    NOT NULL,
    answer BLOB    NOT NULL,
    PRIMARY KEY (run, life, call)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_empties (
    run    TEXT    NOT NULL,
    life   INTEGER NOT NULL,
    target BLOB    NOT NULL,
    n      INTEGER NOT NULL,
    PRIMARY KEY (run, life, target)
) STRICT, WITHOUT ROWID;

-- The hooks in force by what a call must be like for them to have something to say, so that a process
-- that lives for one call compiles those alone. A fold of the configuration thread up to one place.
CREATE TABLE hook_index (
    place     TEXT NOT NULL,                     -- `*`, `tool=…`, `tool^…`, `resource=…`, `resource^…`
    status    TEXT,
    needle    TEXT,
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    record    BLOB NOT NULL
) STRICT;

CREATE INDEX hook_index_by_place ON hook_index (place);

CREATE TABLE hook_index_as_of (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
) STRICT;
