-- What the console draws over time, and the lag of delayed attempts. Reads of a chart or a tile touch these rows only:
-- never the attempts, the archive or every live row. A missing row must never be read as zero: samples and roll-ups say
-- when they ran.

-- Age and lag as in the first version of this function, with the second objective beside them: the lag of work that was
-- attempted before (lanes retry and replay). It is a part of due_count and due_since, counted apart so that the two
-- objectives are never blended. domain/queue-age.ts has the same; a property test compares.
DROP FUNCTION sluice.queue_age(timestamptz);
CREATE FUNCTION sluice.queue_age(p_now timestamptz)
RETURNS TABLE (
  tenant_id uuid, destination_id uuid, service_class sluice.service_class, held_why text, gate_until timestamptz,
  first_due_at timestamptz, due_count bigint, due_since timestamptz, held_count bigint, held_since timestamptz,
  gated_count bigint, ready bigint, delayed bigint, in_flight bigint, retry_due_count bigint, retry_due_since timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT g.tenant_id, g.destination_id, g.service_class, w.held_why, w.gate_until,
         CASE WHEN w.held_why IS NULL THEN g.first_due_at END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL AND g.due_count > 0 THEN greatest(g.due_since, s.hold_until) END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_since END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NOT NULL THEN g.due_count ELSE 0 END,
         g.ready, g.delayed, g.in_flight,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL THEN g.retry_due_count ELSE 0 END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL AND g.retry_due_count > 0 THEN greatest(g.retry_due_since, s.hold_until) END
    FROM (SELECT d.tenant_id, d.destination_id, d.service_class,
                 min(d.first_due_at) FILTER (WHERE d.lane = 'first' AND d.first_due_at <= p_now) AS first_due_at,
                 count(*) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_count,
                 min(d.due_at) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_since,
                 count(*) FILTER (WHERE d.state = 'ready') AS ready,
                 count(*) FILTER (WHERE d.state = 'delayed') AS delayed,
                 count(*) FILTER (WHERE d.state = 'leased') AS in_flight,
                 count(*) FILTER (WHERE d.state <> 'leased' AND d.lane <> 'first' AND d.due_at <= p_now) AS retry_due_count,
                 min(d.due_at) FILTER (WHERE d.state <> 'leased' AND d.lane <> 'first' AND d.due_at <= p_now) AS retry_due_since
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

-- Attempts by minute as charts need them, at three levels: the region (no tenant), a tenant (no destination), a destination.
-- Counted anew from the attempts while a minute still gets rows, so a repeat changes nothing. The arrays are histograms;
-- their bounds stand once in domain/series.ts, and the roll-up is written from it.
CREATE TABLE sluice.series_minute (
  minute timestamptz NOT NULL,
  tenant_id uuid,
  destination_id uuid,
  service_class sluice.service_class NOT NULL,
  region text NOT NULL,
  -- HTTP requests, whatever came of them.
  requests bigint NOT NULL,
  delivered bigint NOT NULL,
  rate_limited bigint NOT NULL,
  permanent bigint NOT NULL,
  server_error bigint NOT NULL,
  network bigint NOT NULL,
  -- Ended without a request.
  blocked bigint NOT NULL,
  leases_expired bigint NOT NULL,
  -- Deliveries that became dead letters.
  died bigint NOT NULL,
  -- First request start - due time, of deliveries whose first request began in the minute.
  first_ages integer[] NOT NULL,
  first_age_max_ms bigint NOT NULL,
  -- Durations of requests.
  services integer[] NOT NULL,
  service_max_ms bigint NOT NULL,
  -- Deliveries that ended in the minute, by their number of attempts, and the sum of those numbers.
  ends integer[] NOT NULL,
  end_attempts bigint NOT NULL,
  -- Requests by the minutes since the request of the same delivery before them.
  gaps integer[] NOT NULL,
  last_delivered_at timestamptz,
  UNIQUE NULLS NOT DISTINCT (minute, tenant_id, destination_id, service_class),
  CHECK (tenant_id IS NOT NULL OR destination_id IS NULL)
);
SELECT sluice.pin_region('series_minute');
CREATE INDEX series_minute_region ON sluice.series_minute (minute) WHERE tenant_id IS NULL;
CREATE INDEX series_minute_tenant ON sluice.series_minute (tenant_id, minute) WHERE destination_id IS NULL;
CREATE INDEX series_minute_destination ON sluice.series_minute (destination_id, minute) WHERE destination_id IS NOT NULL;

-- When what was last counted, and the lock for whose turn it is. What is later than that was not counted yet.
CREATE TABLE sluice.series_run (
  what text PRIMARY KEY,
  region text NOT NULL,
  rolled_at timestamptz NOT NULL
);
SELECT sluice.pin_region('series_run');
INSERT INTO sluice.series_run (what, region, rolled_at) SELECT 'attempts', rc.region, 'epoch' FROM sluice.region_control rc;

-- The samples of classes in steps of 5 minutes, for the long ranges: the worst age and lag of the step, its last depths.
CREATE TABLE sluice.queue_sample_5m (
  at timestamptz NOT NULL,
  service_class sluice.service_class NOT NULL,
  region text NOT NULL,
  samples integer NOT NULL,
  first_attempt_age_ms bigint NOT NULL,
  due_count bigint NOT NULL,
  due_age_ms bigint NOT NULL,
  held_count bigint NOT NULL,
  held_age_ms bigint NOT NULL,
  in_flight bigint NOT NULL,
  dead bigint NOT NULL,
  PRIMARY KEY (at, service_class)
) WITH (fillfactor = 50);
SELECT sluice.pin_region('queue_sample_5m');
CREATE FUNCTION sluice.note_sample() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sluice.queue_sample_5m AS q (at, service_class, region, samples, first_attempt_age_ms, due_count, due_age_ms, held_count,
                                           held_age_ms, in_flight, dead)
  VALUES (date_bin('5 minutes', NEW.at, 'epoch'), NEW.service_class, NEW.region, 1, NEW.first_attempt_age_ms, NEW.due_count, NEW.due_age_ms,
          NEW.held_count, NEW.held_age_ms, NEW.in_flight, NEW.dead)
  ON CONFLICT (at, service_class) DO UPDATE
    SET samples = q.samples + 1, first_attempt_age_ms = greatest(q.first_attempt_age_ms, EXCLUDED.first_attempt_age_ms),
        due_count = greatest(q.due_count, EXCLUDED.due_count), due_age_ms = greatest(q.due_age_ms, EXCLUDED.due_age_ms),
        held_count = greatest(q.held_count, EXCLUDED.held_count), held_age_ms = greatest(q.held_age_ms, EXCLUDED.held_age_ms),
        in_flight = greatest(q.in_flight, EXCLUDED.in_flight), dead = EXCLUDED.dead;
  RETURN NULL;
END
$$;
CREATE TRIGGER queue_sample_note AFTER INSERT ON sluice.queue_sample FOR EACH ROW WHEN (NEW.scope = 'class') EXECUTE FUNCTION sluice.note_sample();
INSERT INTO sluice.queue_sample_5m (at, service_class, region, samples, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms,
                                    in_flight, dead)
SELECT date_bin('5 minutes', s.at, 'epoch'), s.service_class, s.region, count(*), max(s.first_attempt_age_ms), max(s.due_count), max(s.due_age_ms),
       max(s.held_count), max(s.held_age_ms), max(s.in_flight), (array_agg(s.dead ORDER BY s.at DESC))[1]
  FROM sluice.queue_sample s WHERE s.scope = 'class' GROUP BY 1, 2, 3;

-- Dead letters that wait for a person: how many and the oldest, of a region and of one tenant, without the table.
CREATE INDEX dead_letter_waiting ON sluice.dead_letter (tenant_id, died_at) WHERE will_not_replay_at IS NULL;
CREATE INDEX dead_letter_waiting_died ON sluice.dead_letter (died_at) INCLUDE (tenant_id) WHERE will_not_replay_at IS NULL;
-- Those that left: set aside by a person, or released by a replay.
CREATE INDEX dead_letter_set_aside ON sluice.dead_letter (will_not_replay_at) INCLUDE (tenant_id) WHERE will_not_replay_at IS NOT NULL;
CREATE INDEX replay_item_released ON sluice.replay_item (released_at) WHERE released_at IS NOT NULL;
