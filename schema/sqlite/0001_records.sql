-- Every record ever accepted. Rows are added and never change.
CREATE TABLE records (
    seq         INTEGER PRIMARY KEY,             -- the order of arrival, from 1, without gaps
    id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 32),
    thread      TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    act         TEXT    NOT NULL,
    clock       INTEGER NOT NULL CHECK (clock >= 0),
    data_type   TEXT    NOT NULL,
    namespace   TEXT    NOT NULL,                -- body.namespace, or `default`
    kind        TEXT,                            -- body.kind
    verdict     TEXT,                            -- body.verdict of a KNOW: evidence for trust
    canonical   TEXT    NOT NULL,                -- the bytes that `id` hashes and `sig` signs
    judged_by   TEXT,
    -- The receipt: what this store says about the arrival. Chained, so that a row that is
    -- removed, moved, re-dated or re-attributed is seen.
    received_at INTEGER NOT NULL,                -- milliseconds since 1970-01-01 UTC
    origin      TEXT    NOT NULL CHECK (origin IN ('engine', 'door', 'import')),
    signer      TEXT    NOT NULL,                -- did:key of the key that signed
    sig         BLOB    NOT NULL CHECK (length(sig) = 64),
    chain       BLOB    NOT NULL CHECK (length(chain) = 32)
) STRICT;

-- One statement per thread, actor and clock.
CREATE UNIQUE INDEX records_by_clock ON records (thread, actor, clock);
CREATE INDEX records_by_thread ON records (thread, seq);
CREATE INDEX records_by_kind ON records (kind, seq) WHERE kind IS NOT NULL;
CREATE INDEX records_with_intent ON records (thread, seq) WHERE act = 'INTEND';
CREATE INDEX records_with_verdict ON records (seq) WHERE verdict IS NOT NULL;

-- The engine never changes a record. These say so to everyone else who opens the file.
CREATE TRIGGER records_no_update BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are immutable'); END;

CREATE TRIGGER records_no_delete BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are immutable'); END;

-- INSERT OR REPLACE deletes the row in its way without firing the trigger above, whichever
-- unique key it collides with.
CREATE TRIGGER records_no_replace BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM records WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM records WHERE seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM records
             WHERE thread = NEW.thread AND actor = NEW.actor AND clock = NEW.clock)
BEGIN SELECT RAISE(ABORT, 'records are immutable'); END;

-- The newest link of the chain, signed by the instance key once per commit.
CREATE TABLE head (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    seq    INTEGER NOT NULL,
    chain  BLOB    NOT NULL CHECK (length(chain) = 32),
    signer TEXT    NOT NULL,
    sig    BLOB    NOT NULL CHECK (length(sig) = 64)
) STRICT;

-- Each time a hook spoke in one life of a run. The observations say the same; this table makes a
-- cap exact when several processes ask at once.
CREATE TABLE fires (
    run       TEXT    NOT NULL,
    life      INTEGER NOT NULL,
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    n         INTEGER NOT NULL,
    PRIMARY KEY (run, life, namespace, name, n)
) STRICT, WITHOUT ROWID;

-- The calls about which hooks were asked, counted up in each namespace, so that how often a hook was
-- asked since it was written is two look-ups and not a count. Not part of the log.
CREATE TABLE seam_calls (
    namespace TEXT    NOT NULL,
    seq       INTEGER NOT NULL,                  -- of the record of the result
    n         INTEGER NOT NULL,                  -- calls in this namespace so far, this one included
    PRIMARY KEY (namespace, seq)
) STRICT, WITHOUT ROWID;

-- What came of asking each hook. Not part of the log.
CREATE TABLE hook_counters (
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    matched   INTEGER NOT NULL DEFAULT 0,
    fires     INTEGER NOT NULL DEFAULT 0,
    errors    INTEGER NOT NULL DEFAULT 0,
    overruns  INTEGER NOT NULL DEFAULT 0,
    last_fire INTEGER,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- Bearer tokens. Only the SHA-256 of the secret is here.
CREATE TABLE tokens (
    id         TEXT    NOT NULL PRIMARY KEY,     -- SHA-256 of the secret, hex
    name       TEXT    NOT NULL,
    scopes     TEXT    NOT NULL,                 -- comma-separated
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
