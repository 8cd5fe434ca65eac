-- What the console reads of a large region without summing it up again: 10,000 destinations, 200,000 live and 10,000,000 archived
-- deliveries. Both tables hold what workers have counted anyway; neither may ever be the only place of a fact.

-- The newest sums of the live rows by tenant, class and what holds them, as the sampling of a large region leaves them every few seconds.
-- Unlogged: what is lost in a crash is counted again by the next sampling, and it costs the region no log. Several moments stand
-- beside each other for some seconds, so that a reader's moment does not go away under it; `at` is a whole millisecond.
CREATE UNLOGGED TABLE sluice.queue_now (
  at timestamptz NOT NULL,
  tenant_id uuid NOT NULL,
  service_class sluice.service_class NOT NULL,
  held_why text,
  region text NOT NULL,
  gate_until timestamptz,
  first_due_at timestamptz,
  due_count bigint NOT NULL,
  due_since timestamptz,
  held_count bigint NOT NULL,
  held_since timestamptz,
  gated_count bigint NOT NULL,
  ready bigint NOT NULL,
  delayed bigint NOT NULL,
  in_flight bigint NOT NULL,
  retry_due_count bigint NOT NULL,
  retry_due_since timestamptz
);
SELECT sluice.pin_region('queue_now');
CREATE INDEX queue_now_tenant ON sluice.queue_now (at, tenant_id);

-- The region's minutes in steps of a quarter of an hour, for the long ranges: a week is 1,344 rows, not 20,160.
CREATE TABLE sluice.series_quarter (
  at timestamptz NOT NULL,
  service_class sluice.service_class NOT NULL,
  region text NOT NULL,
  requests bigint NOT NULL,
  delivered bigint NOT NULL,
  rate_limited bigint NOT NULL,
  permanent bigint NOT NULL,
  server_error bigint NOT NULL,
  network bigint NOT NULL,
  blocked bigint NOT NULL,
  leases_expired bigint NOT NULL,
  died bigint NOT NULL,
  first_ages bigint[] NOT NULL,
  first_age_max_ms bigint NOT NULL,
  ends bigint[] NOT NULL,
  end_attempts bigint NOT NULL,
  PRIMARY KEY (at, service_class)
) WITH (fillfactor = 50);
SELECT sluice.pin_region('series_quarter');

-- Sums the given quarters anew, whole, from their minutes: a repeat changes nothing.
CREATE FUNCTION sluice.sum_quarters(p_quarters timestamptz[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
  INSERT INTO sluice.series_quarter AS q (at, service_class, region, requests, delivered, rate_limited, permanent, server_error, network, blocked,
                                          leases_expired, died, first_ages, first_age_max_ms, ends, end_attempts)
  SELECT s.at, s.service_class, s.region, s.requests, s.delivered, s.rate_limited, s.permanent, s.server_error, s.network, s.blocked,
         s.leases_expired, s.died,
         ARRAY(SELECT sum(u.n) FROM sluice.series_minute m CROSS JOIN LATERAL unnest(m.first_ages) WITH ORDINALITY u(n, place)
                WHERE m.tenant_id IS NULL AND m.service_class = s.service_class AND m.minute >= s.at AND m.minute < s.at + interval '15 minutes'
                GROUP BY u.place ORDER BY u.place)::bigint[],
         s.first_age_max_ms,
         ARRAY(SELECT sum(u.n) FROM sluice.series_minute m CROSS JOIN LATERAL unnest(m.ends) WITH ORDINALITY u(n, place)
                WHERE m.tenant_id IS NULL AND m.service_class = s.service_class AND m.minute >= s.at AND m.minute < s.at + interval '15 minutes'
                GROUP BY u.place ORDER BY u.place)::bigint[],
         s.end_attempts
    FROM (SELECT k.at, m.service_class, min(m.region) AS region, sum(m.requests) AS requests, sum(m.delivered) AS delivered,
                 sum(m.rate_limited) AS rate_limited, sum(m.permanent) AS permanent, sum(m.server_error) AS server_error,
                 sum(m.network) AS network, sum(m.blocked) AS blocked, sum(m.leases_expired) AS leases_expired, sum(m.died) AS died,
                 max(m.first_age_max_ms) AS first_age_max_ms, sum(m.end_attempts) AS end_attempts
            FROM unnest(p_quarters) k(at)
            JOIN sluice.series_minute m ON m.tenant_id IS NULL AND m.minute >= k.at AND m.minute < k.at + interval '15 minutes'
           GROUP BY 1, 2) s
  ON CONFLICT (at, service_class) DO UPDATE
    SET requests = EXCLUDED.requests, delivered = EXCLUDED.delivered, rate_limited = EXCLUDED.rate_limited, permanent = EXCLUDED.permanent,
        server_error = EXCLUDED.server_error, network = EXCLUDED.network, blocked = EXCLUDED.blocked,
        leases_expired = EXCLUDED.leases_expired, died = EXCLUDED.died, first_ages = EXCLUDED.first_ages,
        first_age_max_ms = EXCLUDED.first_age_max_ms, ends = EXCLUDED.ends, end_attempts = EXCLUDED.end_attempts
$$;

-- In the very statement that counts the minutes, so that a quarter is never behind them.
CREATE FUNCTION sluice.note_minutes() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_quarters timestamptz[];
BEGIN
  SELECT array_agg(DISTINCT date_bin('15 minutes', a.minute, 'epoch')) INTO v_quarters FROM added a WHERE a.tenant_id IS NULL;
  IF v_quarters IS NOT NULL THEN
    PERFORM sluice.sum_quarters(v_quarters);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER series_minute_added AFTER INSERT ON sluice.series_minute REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.note_minutes();
CREATE TRIGGER series_minute_changed AFTER UPDATE ON sluice.series_minute REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.note_minutes();
CREATE FUNCTION sluice.forget_minutes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE sluice.series_quarter;
  RETURN NULL;
END
$$;
CREATE TRIGGER series_minute_emptied AFTER TRUNCATE ON sluice.series_minute FOR EACH STATEMENT EXECUTE FUNCTION sluice.forget_minutes();
SELECT sluice.sum_quarters(ARRAY(SELECT DISTINCT date_bin('15 minutes', m.minute, 'epoch') FROM sluice.series_minute m WHERE m.tenant_id IS NULL));

-- Deliveries that took more than one attempt, by acceptance: the few among millions that went through at once. An ordinary finish
-- never fills it.
CREATE INDEX delivery_archive_tried ON sluice.delivery_archive (id) INCLUDE (attempts) WHERE attempts > 1;
