-- The outbox and what becomes of it: keys, payloads, live deliveries, attempts, archive, dead letters.
-- Live rows leave the hot table at their terminal state, so that finished ones cost the claim nothing.

CREATE TYPE sluice.delivery_state AS ENUM ('ready', 'leased', 'delayed');
CREATE TYPE sluice.lane AS ENUM ('first', 'retry', 'replay');

-- (key, destination) -> delivery and body hash; outlives the delivery, so that a repeat is recognised by a row.
CREATE TABLE sluice.delivery_key (
  idempotency_key text NOT NULL CHECK (idempotency_key ~ '^[\x21-\x7e]{1,255}$'),
  destination_id uuid NOT NULL,
  region text NOT NULL,
  delivery_id uuid NOT NULL,
  body_sha256 bytea NOT NULL CHECK (length(body_sha256) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (idempotency_key, destination_id)
);
SELECT sluice.pin_region('delivery_key');
-- Retention walks keys by age.
CREATE INDEX delivery_key_created ON sluice.delivery_key USING brin (created_at);

-- Body bytes exactly as given: bytea, never jsonb. One payload may serve several destinations. body is null once erased.
CREATE TABLE sluice.payload (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  body bytea,
  content_type text NOT NULL CHECK (length(content_type) BETWEEN 1 AND 255),
  size_bytes integer NOT NULL CHECK (size_bytes BETWEEN 0 AND 1048576),
  erased_at timestamptz,
  CHECK ((body IS NULL) = (erased_at IS NOT NULL))
) PARTITION BY RANGE (id);
SELECT sluice.pin_region('payload');

CREATE TABLE sluice.delivery (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  payload_id uuid NOT NULL,
  payload_bytes integer NOT NULL,
  event_type text NOT NULL CHECK (length(event_type) BETWEEN 1 AND 128),
  idempotency_key text NOT NULL,
  traceparent text CHECK (length(traceparent) = 55),
  service_class sluice.service_class NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it was first meant to leave; due_at moves, this stays.
  first_due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state sluice.delivery_state NOT NULL DEFAULT 'ready',
  lane sluice.lane NOT NULL DEFAULT 'first',
  -- Every HTTP try and every lost lease; never goes down.
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  rejections integer NOT NULL DEFAULT 0 CHECK (rejections >= 0),
  throttles integer NOT NULL DEFAULT 0 CHECK (throttles >= 0),
  -- Sum of the delays that 429s imposed in this cycle.
  throttled_ms bigint NOT NULL DEFAULT 0 CHECK (throttled_ms >= 0),
  -- Lost leases in a row; a stored outcome sets it to 0.
  lost_leases smallint NOT NULL DEFAULT 0 CHECK (lost_leases >= 0),
  cycle smallint NOT NULL DEFAULT 1 CHECK (cycle > 0),
  replay_batch_id uuid,
  first_attempt_at timestamptz,
  first_failure_at timestamptz,
  last_outcome text,
  last_status smallint,
  lease_token uuid,
  lease_until timestamptz,
  leased_at timestamptz,
  leased_by uuid,
  CONSTRAINT delivery_lease CHECK (
    (state = 'leased') = (lease_token IS NOT NULL)
    AND (lease_token IS NULL) = (lease_until IS NULL)
    AND (lease_token IS NULL) = (leased_by IS NULL)
    AND (lease_token IS NULL) = (leased_at IS NULL)),
  CONSTRAINT delivery_ready CHECK (state <> 'ready' OR (attempts = 0 AND lane = 'first')),
  -- A delivery that died without a request has no attempt when a replay brings it back.
  CONSTRAINT delivery_delayed CHECK (state <> 'delayed' OR attempts > 0 OR lane = 'replay'),
  CONSTRAINT delivery_replay CHECK ((lane = 'replay') = (replay_batch_id IS NOT NULL))
) WITH (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
SELECT sluice.pin_region('delivery');

-- Waiting rows of one lane, oldest due first. The class stands in the index: without it an urgent row cannot
-- overtake 50,000 older ones of its destination.
CREATE INDEX delivery_waiting ON sluice.delivery (lane, service_class, tenant_id, destination_id, due_at, id) WHERE state <> 'leased';
-- The oldest due of a lane and class over all tenants: the probe.
CREATE INDEX delivery_due ON sluice.delivery (lane, service_class, due_at) WHERE state <> 'leased';
-- Live leases are bounded by the slots of the region, so one index serves caps, reconciler and drain alike.
CREATE INDEX delivery_leased ON sluice.delivery (lease_until) WHERE state = 'leased';

-- Identity never changes, attempts never go down, and only the transitions of the state machine pass.
-- The same table stands in domain/delivery.ts; a test walks all pairs through both.
CREATE TRIGGER delivery_identity BEFORE UPDATE ON sluice.delivery FOR EACH ROW
  WHEN ((OLD.id, OLD.region, OLD.tenant_id, OLD.destination_id, OLD.payload_id, OLD.idempotency_key, OLD.created_at)
        IS DISTINCT FROM (NEW.id, NEW.region, NEW.tenant_id, NEW.destination_id, NEW.payload_id, NEW.idempotency_key, NEW.created_at))
  EXECUTE FUNCTION sluice.refuse('id, region, tenant, destination, payload, key and created_at of a delivery cannot change');
CREATE TRIGGER delivery_attempts BEFORE UPDATE ON sluice.delivery FOR EACH ROW
  WHEN (NEW.attempts < OLD.attempts OR NEW.cycle < OLD.cycle)
  EXECUTE FUNCTION sluice.refuse('attempts and cycle of a delivery cannot go down');
CREATE TRIGGER delivery_transition BEFORE UPDATE ON sluice.delivery FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND NOT (
    (OLD.state = 'ready' AND NEW.state = 'leased')
    OR (OLD.state = 'delayed' AND NEW.state = 'leased')
    OR (OLD.state = 'leased' AND NEW.state = 'delayed')
    OR (OLD.state = 'leased' AND NEW.state = 'ready')))
  EXECUTE FUNCTION sluice.refuse('this change of state is not allowed for a delivery');
CREATE TRIGGER delivery_start BEFORE INSERT ON sluice.delivery FOR EACH ROW
  WHEN (NOT ((NEW.state = 'ready' AND NEW.cycle = 1) OR (NEW.state = 'delayed' AND NEW.lane = 'replay' AND NEW.cycle > 1)))
  EXECUTE FUNCTION sluice.refuse('a delivery starts as ready, or as delayed in the replay lane of a later cycle');

-- Append-only: one row per HTTP attempt, per end without a request, per lost lease and per result that came too late.
CREATE TABLE sluice.attempt (
  id uuid NOT NULL,
  region text NOT NULL,
  delivery_id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  service_class sluice.service_class NOT NULL,
  lane sluice.lane NOT NULL,
  cycle smallint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('http', 'not_sent', 'lease_expired', 'stale_result')),
  -- HTTP tries and lost leases count; a delivery that ended without a request keeps its number.
  number integer NOT NULL CHECK (number >= 0),
  worker_id uuid,
  lease_token uuid NOT NULL,
  replay_batch_id uuid,
  due_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  -- Word of domain/outcome.ts.
  outcome text NOT NULL,
  -- What was decided: delivered, delayed, dead.
  decision text NOT NULL CHECK (decision IN ('delivered', 'delayed', 'dead', 'ignored')),
  reason text,
  status smallint,
  error_code text,
  error_detail text,
  counted_failure boolean NOT NULL DEFAULT false,
  retry_after_raw text,
  retry_after_read text,
  retry_after_asked_ms bigint,
  retry_after_clamped text CHECK (retry_after_clamped IN ('min', 'max')),
  fallback boolean,
  jitter_ms bigint,
  delay_ms bigint,
  next_due_at timestamptz,
  response_content_type text,
  response_body bytea CHECK (length(response_body) <= 16384),
  response_bytes bigint,
  response_truncated boolean,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (delivery_id, id, started_at)
) PARTITION BY RANGE (started_at);
SELECT sluice.pin_region('attempt');
CREATE INDEX attempt_started ON sluice.attempt USING brin (started_at) WITH (pages_per_range = 16);
-- The roll-up finds the minutes that new rows belong to, also of attempts that are recorded long after they began.
CREATE INDEX attempt_recorded ON sluice.attempt USING brin (recorded_at) WITH (pages_per_range = 16);
CREATE TRIGGER attempt_append_only BEFORE UPDATE OR DELETE ON sluice.attempt
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('attempts are append-only');

CREATE TABLE sluice.delivery_archive (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  payload_id uuid NOT NULL,
  payload_bytes integer NOT NULL,
  event_type text NOT NULL,
  idempotency_key text NOT NULL,
  traceparent text,
  service_class sluice.service_class NOT NULL,
  created_at timestamptz NOT NULL,
  first_due_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('delivered', 'cancelled')),
  reason text,
  attempts integer NOT NULL,
  failures integer NOT NULL,
  throttles integer NOT NULL,
  cycle smallint NOT NULL,
  replay_batch_id uuid,
  first_attempt_at timestamptz,
  last_outcome text,
  last_status smallint,
  finished_at timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (id);
SELECT sluice.pin_region('delivery_archive');
CREATE INDEX delivery_archive_tenant ON sluice.delivery_archive (tenant_id, id);
CREATE INDEX delivery_archive_destination ON sluice.delivery_archive (destination_id, id);
CREATE TRIGGER delivery_archive_append_only BEFORE UPDATE OR DELETE ON sluice.delivery_archive
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('the archive is append-only');

-- Dead rows that await a human. All that a replay needs to bring the same delivery back stands here.
CREATE TABLE sluice.dead_letter (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  payload_id uuid NOT NULL,
  payload_bytes integer NOT NULL,
  event_type text NOT NULL,
  idempotency_key text NOT NULL,
  traceparent text,
  service_class sluice.service_class NOT NULL,
  created_at timestamptz NOT NULL,
  first_due_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  reason text NOT NULL CHECK (reason IN ('rejected', 'redirect', 'gone', 'attempts_exhausted', 'expired', 'bad_destination',
                                         'blocked_address', 'payload_erased', 'worker_lost', 'config_error')),
  reason_class text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN reason IN ('rejected', 'redirect', 'gone') THEN 'receiver'
    WHEN reason IN ('attempts_exhausted', 'expired') THEN 'exhausted'
    WHEN reason IN ('bad_destination', 'payload_erased', 'config_error') THEN 'poison'
    ELSE 'system' END) STORED,
  -- Reason, code, destination and normalised message: entries of one cause share it.
  fingerprint text NOT NULL CHECK (length(fingerprint) BETWEEN 1 AND 128),
  attempts integer NOT NULL,
  failures integer NOT NULL,
  rejections integer NOT NULL,
  throttles integer NOT NULL,
  throttled_ms bigint NOT NULL,
  lost_leases smallint NOT NULL,
  cycle smallint NOT NULL,
  replay_batch_id uuid,
  first_attempt_at timestamptz,
  first_failure_at timestamptz,
  last_failure_at timestamptz NOT NULL,
  last_outcome text,
  last_status smallint,
  last_detail text,
  will_not_replay_at timestamptz,
  will_not_replay_reason text,
  version integer NOT NULL DEFAULT 1,
  died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((will_not_replay_at IS NULL) = (will_not_replay_reason IS NULL))
);
SELECT sluice.pin_region('dead_letter');
CREATE INDEX dead_letter_died ON sluice.dead_letter (died_at DESC, id);
CREATE INDEX dead_letter_tenant ON sluice.dead_letter (tenant_id, died_at DESC, id);
CREATE INDEX dead_letter_destination ON sluice.dead_letter (destination_id, died_at DESC, id);
CREATE INDEX dead_letter_fingerprint ON sluice.dead_letter (fingerprint, died_at DESC);
CREATE TRIGGER dead_letter_identity BEFORE UPDATE ON sluice.dead_letter FOR EACH ROW
  WHEN ((OLD.id, OLD.region, OLD.tenant_id, OLD.destination_id, OLD.payload_id, OLD.idempotency_key, OLD.created_at)
        IS DISTINCT FROM (NEW.id, NEW.region, NEW.tenant_id, NEW.destination_id, NEW.payload_id, NEW.idempotency_key, NEW.created_at))
  EXECUTE FUNCTION sluice.refuse('id, region, tenant, destination, payload, key and created_at of a dead letter cannot change');

CREATE TABLE sluice.dead_letter_group (
  fingerprint text PRIMARY KEY,
  region text NOT NULL,
  state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'acknowledged', 'replaying', 'resolved', 'regressed')),
  assignee text,
  note text,
  resolved_at timestamptz,
  version integer NOT NULL DEFAULT 1,
  first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('dead_letter_group');

-- Daily partitions from yesterday to days_ahead days from now, and a DEFAULT one as a net under them.
-- Ids carry the application's clock, hence yesterday. Returns the names it made. A day whose rows lie in the DEFAULT
-- partition already cannot be made over them: it is left out, and the other days are made all the same.
CREATE FUNCTION sluice.ensure_partitions(days_ahead integer DEFAULT 7) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day date;
  name text;
  low text;
  high text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['payload', 'attempt', 'delivery_archive'] LOOP
    name := parent || '_default';
    IF to_regclass('sluice.' || name) IS NULL THEN
      EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I DEFAULT', name, parent);
      RETURN NEXT name;
    END IF;
    FOR day IN SELECT generate_series((clock_timestamp() AT TIME ZONE 'UTC')::date - 1,
                                      (clock_timestamp() AT TIME ZONE 'UTC')::date + days_ahead, interval '1 day')::date LOOP
      name := parent || '_' || to_char(day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass('sluice.' || name) IS NOT NULL;
      IF parent = 'attempt' THEN
        low := (day::timestamp AT TIME ZONE 'UTC')::text;
        high := ((day + 1)::timestamp AT TIME ZONE 'UTC')::text;
      ELSE
        low := sluice.uuid_floor(day::timestamp AT TIME ZONE 'UTC')::text;
        high := sluice.uuid_floor((day + 1)::timestamp AT TIME ZONE 'UTC')::text;
      END IF;
      BEGIN
        EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I FOR VALUES FROM (%L) TO (%L)', name, parent, low, high);
        RETURN NEXT name;
      EXCEPTION WHEN check_violation THEN
        RAISE WARNING '% cannot be made: rows of that day are in %_default', name, parent;
      END;
    END LOOP;
  END LOOP;
END
$$;
SELECT count(*) FROM sluice.ensure_partitions();

-- One shape for reading: live, dead and archived deliveries. Never reads a body.
CREATE VIEW sluice.delivery_all AS
  SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class,
         created_at, first_due_at, due_at, state::text AS state, lane::text AS lane, NULL::text AS reason, attempts, failures, throttles,
         throttled_ms, lost_leases, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status, lease_until, leased_by,
         NULL::timestamptz AS finished_at
    FROM sluice.delivery
  UNION ALL
  SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class,
         created_at, first_due_at, due_at, 'dead', NULL, reason, attempts, failures, throttles,
         throttled_ms, lost_leases, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status, NULL, NULL, died_at
    FROM sluice.dead_letter
  UNION ALL
  SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class,
         created_at, first_due_at, due_at, state, NULL, reason, attempts, failures, throttles,
         NULL, NULL, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status, NULL, NULL, finished_at
    FROM sluice.delivery_archive;
