-- What staff do with dead letters by their cause, and the indexes that lists of causes and of the audit read.
--
-- The group row holds only what a person decided. Counts, first and last seen and "regressed" are read from the dead
-- letters themselves: a counter here would be one row that every failing destination's finish must lock.

ALTER TABLE sluice.dead_letter_group
  -- Public id (dlg_): a fingerprint is too long and too telling for an address.
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  ADD COLUMN state_by text CHECK (length(state_by) BETWEEN 1 AND 200),
  ADD COLUMN state_at timestamptz,
  ADD CONSTRAINT dead_letter_group_assignee CHECK (length(assignee) BETWEEN 1 AND 200),
  ADD CONSTRAINT dead_letter_group_note CHECK (length(note) BETWEEN 1 AND 2000),
  -- "Regressed" is told from what came after resolved_at, so a resolved group has that moment and no other group has.
  ADD CONSTRAINT dead_letter_group_resolved CHECK ((state = 'resolved') = (resolved_at IS NOT NULL));

-- Every dead letter has its group row: finish and the reconciler write both in one statement.
INSERT INTO sluice.dead_letter_group (fingerprint, region)
SELECT DISTINCT d.fingerprint, d.region FROM sluice.dead_letter d
ON CONFLICT (fingerprint) DO NOTHING;

-- One cause: its newest entry, its count, its trend and its first entry after a moment, without the table. The causes of
-- a region are walked by it, one step a cause, however many entries a cause has.
CREATE INDEX dead_letter_cause ON sluice.dead_letter (fingerprint, died_at DESC, id)
  INCLUDE (tenant_id, destination_id, will_not_replay_at);
DROP INDEX sluice.dead_letter_fingerprint;
-- The same for somebody who sees some tenants only, and for the filter by tenant.
CREATE INDEX dead_letter_tenant_cause ON sluice.dead_letter (tenant_id, fingerprint, died_at DESC, id)
  INCLUDE (destination_id, will_not_replay_at);

-- The audit by what it is searched by, newest first (by tenant: with the reads of tenants). Rows are few and only ever added.
CREATE INDEX operator_action_actor ON sluice.operator_action (actor, at DESC, id);
CREATE INDEX operator_action_action ON sluice.operator_action (action, at DESC, id);
CREATE INDEX operator_action_result ON sluice.operator_action (result, at DESC, id);
CREATE INDEX operator_action_of ON sluice.operator_action (target_id, at DESC, id);
