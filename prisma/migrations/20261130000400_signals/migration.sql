-- What staff and alerts see. The definitions of age and lag stand in domain/queue-age.ts and, once, in SQL here;
-- a property test compares the two on random rows. Page, API, table and chart all read these.

-- Age and lag by tenant, destination and class at the moment p_now.
--   held_why: region_draining, tenant_paused, destination_paused, destination_disabled; counted apart, never in age or lag.
--   first_due_at: oldest due time of a delivery without a stored attempt outcome, leased ones included.
--   due_since: oldest of (the later of due time and gate opening) of waiting rows whose moment has come.
--   A row whose gate is still shut is not due: it is counted in gated.
CREATE FUNCTION sluice.queue_age(p_now timestamptz)
RETURNS TABLE (
  tenant_id uuid, destination_id uuid, service_class sluice.service_class, held_why text, gate_until timestamptz,
  first_due_at timestamptz, due_count bigint, due_since timestamptz, held_count bigint, held_since timestamptz,
  gated_count bigint, ready bigint, delayed bigint, in_flight bigint)
LANGUAGE sql STABLE AS $$
  SELECT g.tenant_id, g.destination_id, g.service_class, w.held_why, w.gate_until,
         CASE WHEN w.held_why IS NULL THEN g.first_due_at END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL AND g.due_count > 0 THEN greatest(g.due_since, s.hold_until) END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_since END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NOT NULL THEN g.due_count ELSE 0 END,
         g.ready, g.delayed, g.in_flight
    FROM (SELECT d.tenant_id, d.destination_id, d.service_class,
                 min(d.first_due_at) FILTER (WHERE d.lane = 'first' AND d.first_due_at <= p_now) AS first_due_at,
                 count(*) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_count,
                 min(d.due_at) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_since,
                 count(*) FILTER (WHERE d.state = 'ready') AS ready,
                 count(*) FILTER (WHERE d.state = 'delayed') AS delayed,
                 count(*) FILTER (WHERE d.state = 'leased') AS in_flight
            FROM sluice.delivery d
           GROUP BY 1, 2, 3) g
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.tenant t ON t.id = g.tenant_id
    LEFT JOIN sluice.destination x ON x.id = g.destination_id
    -- An open breaker is a gate like any other: nothing goes before its time.
    LEFT JOIN LATERAL (
      SELECT greatest(s.hold_until, CASE WHEN s.breaker = 'open' THEN s.breaker_until END) AS hold_until
        FROM sluice.destination_state s WHERE s.destination_id = g.destination_id) s ON true
   CROSS JOIN LATERAL (SELECT
     CASE WHEN rc.draining THEN 'region_draining'
          WHEN t.paused_at IS NOT NULL AND t.pause_until > p_now THEN 'tenant_paused'
          WHEN x.paused_at IS NOT NULL AND x.pause_until > p_now THEN 'destination_paused'
          WHEN x.disabled_at IS NOT NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'destination_disabled' END AS held_why,
     CASE WHEN s.hold_until > p_now THEN s.hold_until END AS gate_until) w
$$;

-- Whether each sampling succeeded: no row of a tenant in an ok run is 0, no run is "no data".
CREATE TABLE sluice.sample_run (
  at timestamptz NOT NULL,
  scope text NOT NULL CHECK (scope IN ('class', 'tenant')),
  region text NOT NULL,
  ok boolean NOT NULL,
  error text,
  PRIMARY KEY (scope, at)
);
SELECT sluice.pin_region('sample_run');

-- scope class: every 5 s, one row a class. scope tenant: every 60 s, only non-zero rows. Ages in milliseconds.
CREATE TABLE sluice.queue_sample (
  at timestamptz NOT NULL,
  scope text NOT NULL CHECK (scope IN ('class', 'tenant')),
  tenant_id uuid,
  service_class sluice.service_class NOT NULL,
  region text NOT NULL,
  first_attempt_age_ms bigint NOT NULL CHECK (first_attempt_age_ms >= 0),
  due_count bigint NOT NULL,
  due_age_ms bigint NOT NULL CHECK (due_age_ms >= 0),
  held_count bigint NOT NULL,
  held_age_ms bigint NOT NULL CHECK (held_age_ms >= 0),
  gated_count bigint NOT NULL,
  ready bigint NOT NULL,
  delayed bigint NOT NULL,
  in_flight bigint NOT NULL,
  dead bigint NOT NULL,
  UNIQUE NULLS NOT DISTINCT (scope, at, tenant_id, service_class),
  CHECK ((scope = 'tenant') = (tenant_id IS NOT NULL))
);
SELECT sluice.pin_region('queue_sample');
CREATE INDEX queue_sample_tenant ON sluice.queue_sample (tenant_id, at) WHERE tenant_id IS NOT NULL;

-- Attempts by minute, recomputed from the rows themselves until the minute is closed: idempotent and exact.
CREATE TABLE sluice.attempt_rollup (
  minute timestamptz NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  service_class sluice.service_class NOT NULL,
  outcome text NOT NULL,
  decision text NOT NULL,
  region text NOT NULL,
  attempts bigint NOT NULL,
  first_attempts bigint NOT NULL,
  duration_sum_ms bigint NOT NULL,
  duration_max_ms integer NOT NULL,
  duration_p95_ms integer NOT NULL,
  PRIMARY KEY (minute, tenant_id, destination_id, service_class, outcome, decision)
);
SELECT sluice.pin_region('attempt_rollup');
