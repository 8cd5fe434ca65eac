-- Tenants, destinations and what the worker remembers of a destination. Rows are only soft-deleted: outbox rows
-- carry no foreign keys to them (keys cost writers 20-27 % and would let a console lock block a business writer).

CREATE TYPE sluice.service_class AS ENUM ('urgent', 'routine');

CREATE TABLE sluice.tenant (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  weight integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 100),
  -- Null inherits region_control.default_tenant_concurrency. Zero is refused: that is what pause is for.
  concurrency_limit integer CHECK (concurrency_limit BETWEEN 1 AND 100000),
  claim_owner text NOT NULL DEFAULT 'sluice' CHECK (length(claim_owner) BETWEEN 1 AND 63),
  paused_at timestamptz,
  pause_until timestamptz,
  pause_reason text,
  paused_by text,
  resumed_at timestamptz,
  resume_share numeric(4, 3) CHECK (resume_share > 0 AND resume_share <= 1),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz,
  -- Every tenant pause has an end and a reason.
  CHECK ((paused_at IS NULL) = (pause_until IS NULL) AND (paused_at IS NULL) = (pause_reason IS NULL))
);
SELECT sluice.pin_region('tenant');
-- The pauses that end next: every process looks each second.
CREATE INDEX tenant_pause_end ON sluice.tenant (pause_until) WHERE paused_at IS NOT NULL;

CREATE TABLE sluice.destination (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL REFERENCES sluice.tenant (id),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  -- Null inherits region_control.default_destination_concurrency.
  concurrency_limit integer CHECK (concurrency_limit BETWEEN 1 AND 10000),
  -- Null: no rate limit. Burst counts requests.
  rate_per_second numeric(10, 3) CHECK (rate_per_second > 0 AND rate_per_second <= 100000),
  rate_burst integer NOT NULL DEFAULT 1 CHECK (rate_burst BETWEEN 1 AND 100000),
  paused_at timestamptz,
  pause_until timestamptz,
  pause_reason text,
  paused_by text,
  resumed_at timestamptz,
  resume_share numeric(4, 3) CHECK (resume_share > 0 AND resume_share <= 1),
  disabled_at timestamptz,
  disabled_reason text,
  disabled_by text,
  -- Sealed with AES-256-GCM by db/secrets.ts; the previous secret signs too until it ends.
  secret_current bytea NOT NULL,
  secret_previous bytea,
  secret_previous_until timestamptz,
  secret_set_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Standard Webhooks always; a second plain header `<name>: ts.hex(hmac(ts.body))` where a destination asks for it.
  plain_signature_header text CHECK (plain_signature_header ~ '^[a-z0-9-]{1,64}$'),
  policy_override jsonb CHECK (jsonb_typeof(policy_override) = 'object'),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz,
  CHECK ((paused_at IS NULL) = (pause_until IS NULL) AND (paused_at IS NULL) = (pause_reason IS NULL)),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CHECK ((secret_previous IS NULL) = (secret_previous_until IS NULL))
);
SELECT sluice.pin_region('destination');
CREATE INDEX destination_tenant ON sluice.destination (tenant_id);

-- Workers plan with limits that are a moment old and ask twice a second what changed; the claim reads the rows themselves.
ALTER TABLE sluice.tenant ADD COLUMN limits_changed_at timestamptz NOT NULL DEFAULT clock_timestamp();
ALTER TABLE sluice.destination ADD COLUMN limits_changed_at timestamptz NOT NULL DEFAULT clock_timestamp();
CREATE FUNCTION sluice.note_limit_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.limits_changed_at := clock_timestamp();
  RETURN NEW;
END
$$;
CREATE TRIGGER tenant_limits BEFORE UPDATE ON sluice.tenant FOR EACH ROW
  WHEN ((OLD.concurrency_limit, OLD.weight) IS DISTINCT FROM (NEW.concurrency_limit, NEW.weight))
  EXECUTE FUNCTION sluice.note_limit_change();
CREATE TRIGGER destination_limits BEFORE UPDATE ON sluice.destination FOR EACH ROW
  WHEN ((OLD.concurrency_limit, OLD.rate_per_second, OLD.rate_burst)
        IS DISTINCT FROM (NEW.concurrency_limit, NEW.rate_per_second, NEW.rate_burst))
  EXECUTE FUNCTION sluice.note_limit_change();
CREATE INDEX tenant_limits_changed ON sluice.tenant (limits_changed_at);
CREATE INDEX destination_limits_changed ON sluice.destination (limits_changed_at);

-- Resume ramps. The moment from which a tenant or destination is on again: a pause whose end has come counts as resumed at
-- that end, whether or not a worker has written so yet. Null: it was never paused.
CREATE FUNCTION sluice.resumed_at(p_pause_until timestamptz, p_resumed_at timestamptz, p_now timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_pause_until <= p_now THEN p_pause_until ELSE p_resumed_at END
$$;
-- Part of cap and rate that rows due before the resume may use: the share, doubled every minute. Null once it is all of it.
CREATE FUNCTION sluice.resume_part(p_resumed_at timestamptz, p_share numeric, p_now timestamptz) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_resumed_at <= p_now AND p_now < p_resumed_at + interval '10 minutes' THEN
           nullif(least(1, coalesce(p_share, 0.2) * 2 ^ floor(extract(epoch FROM p_now - p_resumed_at) / 60)), 1) END
$$;
-- What was resumed within the ten minutes that the slowest ramp takes.
CREATE INDEX tenant_resumed ON sluice.tenant (greatest(resumed_at, pause_until)) WHERE greatest(resumed_at, pause_until) IS NOT NULL;
CREATE INDEX destination_resumed ON sluice.destination (greatest(resumed_at, pause_until)) WHERE greatest(resumed_at, pause_until) IS NOT NULL;
CREATE INDEX destination_pause_end ON sluice.destination (pause_until) WHERE paused_at IS NOT NULL;

-- Written by workers only. A missing row means: no gate and a full burst.
CREATE TABLE sluice.destination_state (
  destination_id uuid PRIMARY KEY,
  region text NOT NULL,
  -- The gate: nothing is claimed before hold_until; while probing, one request at a time until one has an outcome.
  hold_until timestamptz,
  hold_set_at timestamptz,
  hold_why text CHECK (hold_why IN ('retry_after', 'rate_limited')),
  hold_status smallint,
  hold_retry_after text,
  hold_delivery_id uuid,
  probing boolean NOT NULL DEFAULT false,
  consecutive_gates integer NOT NULL DEFAULT 0 CHECK (consecutive_gates >= 0),
  -- Adaptive concurrency, under the cap. Null: the destination has given no trouble since it last reached its cap. The rule
  -- stands in domain/adaptive-limit.ts; trouble lowers, a clean round at the limit raises, and pinned is left alone.
  adaptive_limit integer CHECK (adaptive_limit > 0),
  -- The highest limit that a round went through without trouble; halved by trouble.
  adaptive_safe_limit integer CHECK (adaptive_safe_limit > 0),
  adaptive_pinned boolean NOT NULL DEFAULT false,
  adaptive_why text CHECK (adaptive_why IN ('rate_limited', 'timeout', 'breaker')),
  adaptive_changed_at timestamptz,
  adaptive_lowered_at timestamptz,
  -- Breaker (domain/breaker.ts). Open: nothing is claimed before breaker_until, then one request at a time, until an answer
  -- closes it. Half open is open with its time come: no process has to write it.
  breaker text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open')),
  breaker_until timestamptz,
  breaker_opened_at timestamptz,
  breaker_opens integer NOT NULL DEFAULT 0 CHECK (breaker_opens >= 0),
  breaker_why text CHECK (length(breaker_why) <= 100),
  -- Requests in a row without an answer, or with a 5xx.
  down_in_row integer NOT NULL DEFAULT 0 CHECK (down_in_row >= 0),
  down_since timestamptz,
  -- Failures in a row without a 2xx; 429 and requests that we cut off ourselves are none. For auto-disable.
  failures_since_success integer NOT NULL DEFAULT 0 CHECK (failures_since_success >= 0),
  failing_since timestamptz,
  -- The success that ended the last such row. Not every success: an ordinary one writes nothing here.
  last_success_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
SELECT sluice.pin_region('destination_state');
-- The next gate to open, for the region's wake-up.
CREATE INDEX destination_state_hold ON sluice.destination_state (hold_until) WHERE hold_until IS NOT NULL;

-- GCRA theoretical arrival time of a rate-limited destination, in database time. A table of its own that only claims
-- write: a claim must never wait, with the claim lock in its hand, for somebody who holds a row of destination_state.
CREATE TABLE sluice.destination_rate (
  destination_id uuid PRIMARY KEY,
  region text NOT NULL,
  rate_tat timestamptz NOT NULL,
  -- The same for the rows that a resume lets out slowly, at its share of the rate. Null: there was none.
  ramp_tat timestamptz
) WITH (fillfactor = 50);
SELECT sluice.pin_region('destination_rate');

-- Retry and limit policies are data, versioned; the newest row of a class is in force.
CREATE TABLE sluice.policy (
  service_class sluice.service_class NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  region text NOT NULL,
  body jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
  created_by text NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (service_class, version)
);
SELECT sluice.pin_region('policy');
CREATE TRIGGER policy_append_only BEFORE UPDATE OR DELETE ON sluice.policy
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('a policy version cannot be changed; write the next version');
