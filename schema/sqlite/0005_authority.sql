-- Service accounts: who comes in by a bearer.
CREATE TABLE accounts (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    namespace  TEXT    NOT NULL,
    scopes     TEXT    NOT NULL,                 -- comma-separated, grains among them
    actors     TEXT    NOT NULL,                 -- the DIDs it may speak as, comma-separated; `*`: all but systems
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    reason     TEXT                              -- why it was revoked
) STRICT, WITHOUT ROWID;

-- Each token belongs to an account, and has the scopes that the account had when it was made. Those of
-- before get one of their own, which may do what they could.
ALTER TABLE tokens ADD COLUMN account    TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;
ALTER TABLE tokens ADD COLUMN env        TEXT NOT NULL DEFAULT 'prod';
UPDATE tokens SET account = 'sa-' || substr(id, 1, 16);
INSERT INTO accounts (id, name, namespace, scopes, actors, created_at, revoked_at)
SELECT account, name, 'default', scopes, '*', created_at, revoked_at FROM tokens;

-- Which namespaces there are: a fold of `th_namespace_registry`, kept in the transaction that appends.
-- Those in use before there was a registry have no record. `open`: it and all above it are active, so
-- that whoever appends looks up one row.
CREATE TABLE namespaces (
    path   TEXT    NOT NULL PRIMARY KEY,
    status TEXT    NOT NULL CHECK (status IN ('active', 'archived', 'deleted')),
    open   INTEGER NOT NULL CHECK (open IN (0, 1)),
    seq    INTEGER
) STRICT, WITHOUT ROWID;

WITH RECURSIVE used (path) AS (
    SELECT DISTINCT namespace FROM records
    UNION
    SELECT rtrim(rtrim(path, replace(path, '/', '')), '/') FROM used WHERE instr(path, '/') > 0
)
INSERT OR IGNORE INTO namespaces (path, status, open)
SELECT path, 'active', 1 FROM used WHERE path NOT IN ('', 'default');

-- The signature that came with a record and that nobody here can check, with the reason. Part of the
-- receipt where there is one.
ALTER TABLE records ADD COLUMN unproven TEXT;

-- The keys that actors have had. A key that was replaced still checks what it signed.
CREATE TABLE actor_keys (
    actor   TEXT    NOT NULL,
    key     TEXT    NOT NULL,                    -- as did:key
    since   INTEGER NOT NULL,                    -- the sequence of the record that names it
    until   INTEGER,                             -- of the one that replaces it
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;

-- Signed links of the chain, at least one for every 1,024 records: the end of a proof.
CREATE TABLE checkpoints (
    seq    INTEGER PRIMARY KEY,
    chain  BLOB    NOT NULL CHECK (length(chain) = 32),
    at     INTEGER NOT NULL,
    signer TEXT    NOT NULL,
    sig    BLOB    NOT NULL CHECK (length(sig) = 64)
) STRICT;

-- Records that an erasure marks: folds pass over them. A fold of the erasures themselves, kept in the
-- transaction that appends one; the highest `n` tells whether there are new ones.
CREATE TABLE erased (
    n       INTEGER PRIMARY KEY,
    id      BLOB    NOT NULL UNIQUE CHECK (length(id) = 32),
    erasure BLOB    NOT NULL CHECK (length(erasure) = 32)
) STRICT;

-- Until now erasures took effect on the thread of the configuration alone, behind a gate.
INSERT OR IGNORE INTO erased (id, erasure)
SELECT unhex(named.value), records.id
FROM records, json_each(records.canonical, '$.body.erases') AS named
WHERE records.kind = 'core.erasure' AND records.act = 'PUT' AND records.origin <> 'import'
  AND records.thread = 'th_engine_config' AND typeof(named.value) = 'text'
  AND length(unhex(named.value)) = 32 AND named.value = lower(named.value)
ORDER BY records.seq;

-- Records whose words were taken out. What is left keeps its id and its place in the chain, and is
-- signed anew.
CREATE TABLE tombstones (
    seq      INTEGER PRIMARY KEY,
    erasure  BLOB    NOT NULL CHECK (length(erasure) = 32), -- the record that asked for it
    at       INTEGER NOT NULL,
    signer   TEXT    NOT NULL,
    sig      BLOB    NOT NULL CHECK (length(sig) = 64),
    scrubbed INTEGER NOT NULL DEFAULT 0          -- whether the file was rewritten since
) STRICT;

CREATE TRIGGER tombstones_no_update BEFORE UPDATE OF seq, erasure, at, signer, sig ON tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones stay'); END;

CREATE TRIGGER tombstones_no_delete BEFORE DELETE ON tombstones
BEGIN SELECT RAISE(ABORT, 'tombstones stay'); END;

CREATE TRIGGER tombstones_no_replace BEFORE INSERT ON tombstones
WHEN EXISTS (SELECT 1 FROM tombstones WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'tombstones stay'); END;

-- A row changes in one way: behind its tombstone, the body gives way to an empty one.
DROP TRIGGER records_no_update;
CREATE TRIGGER records_no_update BEFORE UPDATE ON records
WHEN NOT (
    EXISTS (SELECT 1 FROM tombstones WHERE seq = OLD.seq)
    AND NEW.canonical = json_set(OLD.canonical, '$.body', json('{}'))
    AND NEW.kind IS NULL AND NEW.verdict IS NULL
    AND NEW.seq IS OLD.seq AND NEW.id IS OLD.id AND NEW.thread IS OLD.thread
    AND NEW.actor IS OLD.actor AND NEW.act IS OLD.act AND NEW.clock IS OLD.clock
    AND NEW.data_type IS OLD.data_type AND NEW.namespace IS OLD.namespace
    AND NEW.judged_by IS OLD.judged_by AND NEW.received_at IS OLD.received_at
    AND NEW.origin IS OLD.origin AND NEW.signer IS OLD.signer AND NEW.sig IS OLD.sig
    AND NEW.chain IS OLD.chain AND NEW.unproven IS OLD.unproven)
BEGIN SELECT RAISE(ABORT, 'records are immutable'); END;

-- The records that put permission rules in force or out of it: a process that lives for one command sees
-- by this that there are none, and folds nothing.
CREATE INDEX records_of_the_permission_switch ON records (thread)
WHERE thread = 'th_engine_config' AND instr(canonical, '"topic":"permissions_enabled"') > 0;
