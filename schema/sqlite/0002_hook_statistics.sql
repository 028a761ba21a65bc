-- Failures by kind. Until now `errors` counted all of them, and `overruns` those over a budget.
ALTER TABLE hook_counters RENAME COLUMN overruns TO over_budget;
UPDATE hook_counters SET errors = errors - over_budget;
ALTER TABLE hook_counters ADD COLUMN too_large   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hook_counters ADD COLUMN not_boolean INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hook_counters ADD COLUMN panicked    INTEGER NOT NULL DEFAULT 0;

-- Some evaluations are timed: how many were, and what they took.
ALTER TABLE hook_counters ADD COLUMN samples     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hook_counters ADD COLUMN nanos       INTEGER NOT NULL DEFAULT 0;
