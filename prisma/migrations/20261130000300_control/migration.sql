-- What people do: audit, repeated API calls, reviewed replay batches.

CREATE TABLE sluice.operator_action (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
  actor_role text NOT NULL CHECK (actor_role IN ('viewer', 'support', 'operator', 'admin', 'system')),
  action text NOT NULL,
  target_kind text NOT NULL,
  target_id text NOT NULL,
  tenant_id uuid,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  ticket text,
  before jsonb,
  after jsonb,
  result text NOT NULL CHECK (result IN ('done', 'denied', 'conflict')),
  correlation_id text NOT NULL CHECK (length(correlation_id) BETWEEN 1 AND 128)
);
SELECT sluice.pin_region('operator_action');
CREATE INDEX operator_action_at ON sluice.operator_action (at DESC, id);
CREATE INDEX operator_action_target ON sluice.operator_action (target_kind, target_id, at DESC);
CREATE TRIGGER operator_action_append_only BEFORE UPDATE OR DELETE ON sluice.operator_action
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('the audit is append-only');
CREATE TRIGGER operator_action_stays BEFORE TRUNCATE ON sluice.operator_action
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.refuse('the audit is append-only');

CREATE TABLE sluice.api_idempotency (
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  actor text NOT NULL,
  region text NOT NULL,
  request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
  status smallint,
  answer jsonb,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (idempotency_key, actor)
);
SELECT sluice.pin_region('api_idempotency');
CREATE INDEX api_idempotency_created ON sluice.api_idempotency (created_at);

CREATE TABLE sluice.replay_batch (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
  state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'in_review', 'approved', 'canary', 'canary_hold', 'running', 'paused',
                                                        'stopping', 'completed', 'stopped', 'failed', 'rejected', 'expired', 'cancelled')),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  ticket text,
  root_cause text,
  plan jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(plan) = 'object'),
  frozen_sha256 bytea CHECK (length(frozen_sha256) = 32),
  requested_by text NOT NULL,
  approved_by text,
  break_glass_by text,
  paused_from text,
  pause_cause text,
  auto_pauses smallint NOT NULL DEFAULT 0,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Four eyes: a batch that runs was approved by another person, or an admin broke the glass.
  CONSTRAINT replay_batch_four_eyes CHECK (
    state IN ('draft', 'in_review', 'rejected', 'expired', 'cancelled')
    OR (approved_by IS NOT NULL AND approved_by <> requested_by)
    OR break_glass_by IS NOT NULL),
  CHECK (state IN ('draft', 'cancelled') OR frozen_sha256 IS NOT NULL)
);
SELECT sluice.pin_region('replay_batch');

CREATE TABLE sluice.replay_item (
  batch_id uuid NOT NULL REFERENCES sluice.replay_batch (id),
  delivery_id uuid NOT NULL,
  region text NOT NULL,
  dead_letter_version integer NOT NULL,
  state text NOT NULL DEFAULT 'frozen' CHECK (state IN ('frozen', 'released', 'delivered', 'dead_again', 'recalled', 'skipped')),
  skip_reason text,
  released_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (batch_id, delivery_id)
);
SELECT sluice.pin_region('replay_item');
-- A delivery is in at most one open batch.
CREATE UNIQUE INDEX replay_item_open ON sluice.replay_item (delivery_id) WHERE state IN ('frozen', 'released');
