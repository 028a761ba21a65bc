-- The records that say where a run stands, so that a row about it does not read the whole thread.
CREATE INDEX records_of_runs ON records (thread, seq)
WHERE kind IN ('core.work.admission.v1', 'core.work.coercion.v1', 'core.work.decision.v1',
               'core.work.decision_request.v1', 'core.work.interruption.v1', 'core.work.loop.v1',
               'core.work.loop_outcome.v1', 'core.work.resume.v1');
