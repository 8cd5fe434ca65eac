-- What a reviewed replay needs beyond its two tables: who read what, what was planned for each destination, what happened,
-- and the steps that a batch may take. domain/replay.ts has the same table of steps; a test walks all pairs through both.
--
-- What must never happen here: a batch that runs without a second person (or an administrator who says so), an approval by
-- somebody who wrote or changed it, a frozen set that changes under its approval, an ended batch that changes at all.

ALTER TABLE sluice.replay_batch
  -- Who changed it: none of them may approve it. The author is among them.
  ADD COLUMN editors text[] NOT NULL DEFAULT '{}' CHECK (cardinality(editors) <= 100),
  -- Every tenant of its entries: who may read the batch must be able to read all of them.
  ADD COLUMN tenant_ids uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN selection jsonb CHECK (jsonb_typeof(selection) = 'object'),
  ADD COLUMN excluded jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(excluded) = 'object'),
  ADD COLUMN sample_seed text CHECK (length(sample_seed) BETWEEN 1 AND 64),
  ADD COLUMN inspected uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(inspected) <= 5000),
  ADD COLUMN checklist jsonb CHECK (jsonb_typeof(checklist) = 'object'),
  ADD COLUMN fix_url text CHECK (length(fix_url) BETWEEN 1 AND 500),
  -- Attempts of an item in this cycle; the sender reads it with the row.
  ADD COLUMN attempt_budget smallint NOT NULL DEFAULT 1 CHECK (attempt_budget BETWEEN 1 AND 3),
  ADD COLUMN policy_version integer NOT NULL DEFAULT 0 CHECK (policy_version >= 0),
  -- Top of every lane's rate, when a person has lowered it.
  ADD COLUMN rate_cap numeric(10, 3) CHECK (rate_cap > 0),
  ADD COLUMN submitted_at timestamptz,
  ADD COLUMN approved_at timestamptz,
  ADD COLUMN approval_comment text CHECK (length(approval_comment) BETWEEN 1 AND 500),
  ADD COLUMN break_glass_at timestamptz,
  ADD COLUMN canary_size integer CHECK (canary_size >= 0),
  -- Since when its canary has ended, and since when its rate ramps up (start of the run, or the last resume).
  ADD COLUMN held_since timestamptz,
  ADD COLUMN ramp_since timestamptz,
  -- Attempts before it are not looked at by the stop conditions: a person has resumed knowing them.
  ADD COLUMN window_since timestamptz,
  ADD COLUMN last_turn_at timestamptz,
  ADD COLUMN turn_errors integer NOT NULL DEFAULT 0 CHECK (turn_errors >= 0),
  ADD COLUMN stop_cause text CHECK (length(stop_cause) BETWEEN 1 AND 500),
  ADD CONSTRAINT replay_batch_editors CHECK (approved_by IS NULL OR NOT (approved_by = ANY (editors))),
  ADD CONSTRAINT replay_batch_paused CHECK (state <> 'paused' OR paused_from IN ('canary', 'canary_hold', 'running'));
-- What the reconciler looks for every second, and the list.
CREATE INDEX replay_batch_live ON sluice.replay_batch (state) WHERE state NOT IN ('draft', 'completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled');
CREATE INDEX replay_batch_created ON sluice.replay_batch (created_at DESC, id DESC);

CREATE FUNCTION sluice.check_replay_step() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.id, OLD.region, OLD.requested_by, OLD.created_at) IS DISTINCT FROM (NEW.id, NEW.region, NEW.requested_by, NEW.created_at) THEN
    RAISE EXCEPTION 'id, region, author and created_at of a replay batch cannot change' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF OLD.state IN ('completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled') THEN
    RAISE EXCEPTION 'a replay batch that has ended cannot change' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF NEW.version < OLD.version OR (OLD.state <> NEW.state AND NEW.version = OLD.version) THEN
    RAISE EXCEPTION 'a step of a replay batch needs its next version' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF OLD.state <> 'draft' AND NEW.state <> 'draft'
     AND (OLD.plan, OLD.frozen_sha256, OLD.attempt_budget) IS DISTINCT FROM (NEW.plan, NEW.frozen_sha256, NEW.attempt_budget) THEN
    RAISE EXCEPTION 'a frozen plan cannot change: request changes first' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF OLD.state <> 'in_review' AND (OLD.approved_by, OLD.break_glass_by) IS DISTINCT FROM (NEW.approved_by, NEW.break_glass_by) THEN
    RAISE EXCEPTION 'an approval is given in review' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF OLD.state <> NEW.state AND NOT (CASE OLD.state
       WHEN 'draft' THEN NEW.state IN ('in_review', 'cancelled')
       WHEN 'in_review' THEN NEW.state IN ('draft', 'approved', 'rejected', 'expired', 'cancelled')
       WHEN 'approved' THEN NEW.state IN ('canary', 'rejected', 'expired', 'cancelled')
       WHEN 'canary' THEN NEW.state IN ('canary_hold', 'paused', 'stopping')
       WHEN 'canary_hold' THEN NEW.state IN ('running', 'paused', 'stopping')
       WHEN 'running' THEN NEW.state IN ('paused', 'stopping', 'completed', 'failed')
       WHEN 'paused' THEN NEW.state = 'stopping' OR NEW.state = OLD.paused_from
       WHEN 'stopping' THEN NEW.state IN ('stopped', 'failed')
       ELSE false END) THEN
    RAISE EXCEPTION 'a replay batch cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF NEW.state = 'paused' AND OLD.state <> 'paused' AND NEW.paused_from IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a paused replay batch keeps the state that it left' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER replay_batch_step BEFORE UPDATE ON sluice.replay_batch FOR EACH ROW EXECUTE FUNCTION sluice.check_replay_step();
CREATE TRIGGER replay_batch_stays BEFORE DELETE ON sluice.replay_batch
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('a replay batch cannot be deleted');

ALTER TABLE sluice.replay_item
  DROP CONSTRAINT replay_item_state_check,
  ADD CONSTRAINT replay_item_state_check CHECK (state IN ('selected', 'frozen', 'released', 'delivered', 'dead_again', 'recalled', 'skipped', 'not_released')),
  ADD COLUMN tenant_id uuid,
  ADD COLUMN destination_id uuid,
  ADD COLUMN dead_letter_cycle smallint NOT NULL DEFAULT 1,
  ADD COLUMN reason text,
  ADD COLUMN died_at timestamptz,
  -- Place in the order of release; set by the freeze.
  ADD COLUMN seq integer CHECK (seq >= 0),
  ADD COLUMN canary boolean NOT NULL DEFAULT false,
  -- Attempts of the delivery when it was released: more means that it may have been sent.
  ADD COLUMN attempts_before integer CHECK (attempts_before >= 0),
  -- The dead letter as it was, for a recall.
  ADD COLUMN former jsonb CHECK (jsonb_typeof(former) = 'object'),
  ADD COLUMN recalls smallint NOT NULL DEFAULT 0 CHECK (recalls >= 0),
  ADD CONSTRAINT replay_item_skip CHECK (skip_reason IS NULL OR length(skip_reason) BETWEEN 1 AND 200);
-- The next of a lane, and what is out: both are asked in every turn.
CREATE INDEX replay_item_next ON sluice.replay_item (batch_id, destination_id, seq) WHERE state = 'frozen';
CREATE INDEX replay_item_out ON sluice.replay_item (batch_id, destination_id) WHERE state = 'released';
CREATE TRIGGER replay_item_identity BEFORE UPDATE ON sluice.replay_item FOR EACH ROW
  WHEN ((OLD.batch_id, OLD.delivery_id, OLD.region) IS DISTINCT FROM (NEW.batch_id, NEW.delivery_id, NEW.region)
        OR (OLD.state <> 'selected' AND NEW.state <> 'selected'
            AND (OLD.dead_letter_version, OLD.dead_letter_cycle, OLD.seq) IS DISTINCT FROM (NEW.dead_letter_version, NEW.dead_letter_cycle, NEW.seq)))
  EXECUTE FUNCTION sluice.refuse('a frozen item of a replay batch cannot change');
CREATE TRIGGER replay_item_step BEFORE UPDATE ON sluice.replay_item FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND NOT (
    (OLD.state = 'selected' AND NEW.state = 'frozen')
    OR (OLD.state = 'frozen' AND NEW.state IN ('selected', 'released', 'skipped', 'not_released'))
    -- Back to frozen: recalled by a pause.
    OR (OLD.state = 'released' AND NEW.state IN ('delivered', 'dead_again', 'recalled', 'skipped', 'frozen'))))
  EXECUTE FUNCTION sluice.refuse('this change of state is not allowed for an item of a replay batch');

-- One destination of a batch: its own rate, and whether it still goes on.
CREATE TABLE sluice.replay_lane (
  batch_id uuid NOT NULL REFERENCES sluice.replay_batch (id),
  destination_id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  region text NOT NULL,
  rate_per_second numeric(10, 3) NOT NULL CHECK (rate_per_second > 0),
  -- The destination's configuration when it was frozen: another one stops the lane.
  print text NOT NULL,
  -- GCRA, in database time, as domain/rate.ts has it.
  rate_tat timestamptz,
  held_why text,
  stopped_at timestamptz,
  stop_condition text,
  stop_text text CHECK (length(stop_text) BETWEEN 1 AND 300),
  PRIMARY KEY (batch_id, destination_id),
  CHECK ((stopped_at IS NULL) = (stop_condition IS NULL))
);
SELECT sluice.pin_region('replay_lane');

-- What happened to a batch, for its page and its report. Append-only.
CREATE TABLE sluice.replay_event (
  id uuid PRIMARY KEY,
  batch_id uuid NOT NULL REFERENCES sluice.replay_batch (id),
  region text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
  actor text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
  from_state text,
  to_state text,
  detail text CHECK (length(detail) BETWEEN 1 AND 500),
  facts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(facts) = 'object')
);
SELECT sluice.pin_region('replay_event');
CREATE INDEX replay_event_batch ON sluice.replay_event (batch_id, at, id);
CREATE TRIGGER replay_event_append_only BEFORE UPDATE OR DELETE ON sluice.replay_event
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('what happened to a replay batch is append-only');

-- Limits and thresholds of replays: data, versioned; the newest row is in force, over the defaults of domain/replay-plan.ts.
CREATE TABLE sluice.replay_policy (
  version integer PRIMARY KEY CHECK (version > 0),
  region text NOT NULL,
  body jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
  created_by text NOT NULL CHECK (length(created_by) BETWEEN 1 AND 200),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('replay_policy');
CREATE TRIGGER replay_policy_append_only BEFORE UPDATE OR DELETE ON sluice.replay_policy
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('a policy version cannot be changed; write the next version');

-- The attempts of a batch, newest first. No other row is in it.
CREATE INDEX attempt_replay ON sluice.attempt (replay_batch_id, started_at) WHERE replay_batch_id IS NOT NULL;

-- An item ends in the very statement that ends its delivery, whichever program wrote it. Nothing is counted apart: a batch
-- has at most 5,000 items, so its numbers are read from them, and no row of the batch is ever locked by a worker's finish.
CREATE FUNCTION sluice.end_replay_item() RETURNS trigger
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
BEGIN
  UPDATE sluice.replay_item i
     SET state = CASE WHEN NEW.state = 'delivered' THEN 'delivered' ELSE 'skipped' END,
         skip_reason = CASE WHEN NEW.state <> 'delivered' THEN left('cancelled: ' || coalesce(NEW.reason, 'no reason'), 200) END,
         ended_at = clock_timestamp()
   WHERE i.batch_id = NEW.replay_batch_id AND i.delivery_id = NEW.id AND i.state = 'released';
  RETURN NULL;
END
$$;
-- Two functions: the two tables have different columns.
CREATE FUNCTION sluice.end_replay_item_dead() RETURNS trigger
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
BEGIN
  UPDATE sluice.replay_item i SET state = 'dead_again', ended_at = clock_timestamp()
   WHERE i.batch_id = NEW.replay_batch_id AND i.delivery_id = NEW.id AND i.state = 'released';
  RETURN NULL;
END
$$;
CREATE TRIGGER delivery_archive_replay AFTER INSERT ON sluice.delivery_archive FOR EACH ROW
  WHEN (NEW.replay_batch_id IS NOT NULL) EXECUTE FUNCTION sluice.end_replay_item();
CREATE TRIGGER dead_letter_replay AFTER INSERT ON sluice.dead_letter FOR EACH ROW
  WHEN (NEW.replay_batch_id IS NOT NULL) EXECUTE FUNCTION sluice.end_replay_item_dead();

-- What of a destination's configuration a replay depends on. A pause is no change: it holds the lane for as long as it lasts.
CREATE FUNCTION sluice.destination_print(p_destination uuid) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT md5(concat_ws('|', x.url, coalesce(x.concurrency_limit::text, '-'), coalesce(x.rate_per_second::text, '-'), x.rate_burst,
                       coalesce(x.plain_signature_header, '-'), coalesce(x.policy_override::text, '-')))
    FROM sluice.destination x WHERE x.id = p_destination
$$;
