-- What a reviewed replay needs beyond its first tables: a batch that begins as a draft and nowhere else, the follow-up of another
-- batch, every set that was ever put before a second person, what is told to people outside of the console, and a header of its own.
--
-- What must never happen here: a batch or an item that comes into being past its review, a frozen item that is taken away, a set
-- that was reviewed and can no longer be compared with.

ALTER TABLE sluice.replay_batch
  -- The batch whose dead again entries this one takes.
  ADD COLUMN parent_id uuid REFERENCES sluice.replay_batch (id),
  -- Who submitted it last.
  ADD COLUMN submitted_by text CHECK (length(submitted_by) BETWEEN 1 AND 200),
  -- Whether the pause that stands, or stood last, was the runner's own.
  ADD COLUMN paused_auto boolean NOT NULL DEFAULT false,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD CONSTRAINT replay_batch_parent CHECK (parent_id <> id);
CREATE INDEX replay_batch_parent_of ON sluice.replay_batch (parent_id) WHERE parent_id IS NOT NULL;
-- The banner of 24 hours.
CREATE INDEX replay_batch_break_glass ON sluice.replay_batch (break_glass_at) WHERE break_glass_at IS NOT NULL;

CREATE TRIGGER replay_batch_begins BEFORE INSERT ON sluice.replay_batch FOR EACH ROW
  WHEN (NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.auto_pauses <> 0
        OR num_nonnulls(NEW.approved_by, NEW.break_glass_by, NEW.approved_at, NEW.break_glass_at, NEW.started_at, NEW.ended_at) > 0)
  EXECUTE FUNCTION sluice.refuse('a replay batch begins as a draft');
CREATE TRIGGER replay_batch_parent_stays BEFORE UPDATE ON sluice.replay_batch FOR EACH ROW
  WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id)
  EXECUTE FUNCTION sluice.refuse('the batch that a replay follows cannot change');

CREATE FUNCTION sluice.touch_replay_batch() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  RETURN NEW;
END
$$;
-- A turn that changes nothing is no change: its time stands in last_turn_at.
CREATE TRIGGER replay_batch_touch BEFORE UPDATE ON sluice.replay_batch FOR EACH ROW
  WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION sluice.touch_replay_batch();

ALTER TABLE sluice.replay_item
  ALTER COLUMN state SET DEFAULT 'selected',
  -- Of its cause when it was selected: which causes have an open batch.
  ADD COLUMN fingerprint text;
CREATE INDEX replay_item_cause ON sluice.replay_item (fingerprint, tenant_id) WHERE state IN ('frozen', 'released');
CREATE TRIGGER replay_item_begins BEFORE INSERT ON sluice.replay_item FOR EACH ROW
  WHEN (NEW.state <> 'selected')
  EXECUTE FUNCTION sluice.refuse('an item of a replay batch begins as selected');
CREATE TRIGGER replay_item_leaves BEFORE DELETE ON sluice.replay_item FOR EACH ROW
  WHEN (OLD.state <> 'selected')
  EXECUTE FUNCTION sluice.refuse('a frozen item of a replay batch cannot be taken away');

CREATE FUNCTION sluice.check_replay_items() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM (SELECT DISTINCT a.batch_id FROM added a) n JOIN sluice.replay_batch b ON b.id = n.batch_id WHERE b.state <> 'draft') THEN
    RAISE EXCEPTION 'only a draft takes more items' USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER replay_item_draft AFTER INSERT ON sluice.replay_item REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.check_replay_items();

-- Every set that was put before a second person, so that the next one is compared with it.
CREATE TABLE sluice.replay_freeze (
  batch_id uuid NOT NULL REFERENCES sluice.replay_batch (id),
  number smallint NOT NULL CHECK (number > 0),
  region text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  -- Name, reason, ticket, cause, fix, checklist, plan and the rate of each destination.
  facts jsonb NOT NULL CHECK (jsonb_typeof(facts) = 'object'),
  delivery_ids uuid[] NOT NULL CHECK (cardinality(delivery_ids) <= 5000),
  PRIMARY KEY (batch_id, number)
);
SELECT sluice.pin_region('replay_freeze');
CREATE TRIGGER replay_freeze_append_only BEFORE UPDATE OR DELETE ON sluice.replay_freeze
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('what was put before a second person cannot change');

-- What people outside of the console are told of a batch: one row for each event that asks for somebody, until the hook has it.
CREATE TABLE sluice.replay_notice (
  event_id uuid PRIMARY KEY REFERENCES sluice.replay_event (id),
  batch_id uuid NOT NULL REFERENCES sluice.replay_batch (id),
  region text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('review_requested', 'break_glass', 'auto_paused', 'ended')),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz,
  last_error text CHECK (length(last_error) BETWEEN 1 AND 300)
);
SELECT sluice.pin_region('replay_notice');
CREATE INDEX replay_notice_due ON sluice.replay_notice (next_at) WHERE sent_at IS NULL;

CREATE FUNCTION sluice.note_replay_event() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sluice.replay_notice (event_id, batch_id, region, kind)
  VALUES (NEW.id, NEW.batch_id, NEW.region, CASE NEW.kind
    WHEN 'submit' THEN 'review_requested'
    WHEN 'break_glass' THEN 'break_glass'
    WHEN 'auto_pause' THEN 'auto_paused'
    ELSE 'ended' END);
  RETURN NULL;
END
$$;
-- In the very transaction of the event: neither can be without the other.
CREATE TRIGGER replay_event_notice AFTER INSERT ON sluice.replay_event FOR EACH ROW
  WHEN (NEW.kind IN ('submit', 'break_glass', 'auto_pause') OR NEW.to_state IN ('completed', 'stopped', 'failed', 'rejected', 'expired'))
  EXECUTE FUNCTION sluice.note_replay_event();

-- A second header with the batch's id, for receivers that want it under the name of the standard headers.
ALTER TABLE sluice.tenant ADD COLUMN replay_header boolean NOT NULL DEFAULT false;
