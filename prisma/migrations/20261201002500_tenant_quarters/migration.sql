-- What the console reads of a long range of one tenant or one destination: a busy one has 20,160 minutes in a week and as many samples, each
-- on a page of its own. A worker sums an hour once, when it is over; nothing is written while it runs. None may ever be the only
-- place of a fact: minutes and samples stand for as long, and what is not summed yet is told by them.

-- Up to when the sums below hold, always a whole hour. A minute or a sample that comes later than its sum sets it back, so that a
-- reader never takes a sum that lacks something.
CREATE TABLE sluice.series_summed (
  what text PRIMARY KEY,
  region text NOT NULL,
  summed_to timestamptz NOT NULL
);
SELECT sluice.pin_region('series_summed');
-- The history of a database that gets this version is summed piece by piece by its workers: no lock is held over it here.
INSERT INTO sluice.series_summed (what, region, summed_to) SELECT 'series', rc.region, 'epoch' FROM sluice.region_control rc;

-- Tenants in steps of a quarter of an hour, destinations in steps of an hour: what their charts of a day and of a week are made of.
-- Only steps with attempts have a row.
CREATE TABLE sluice.series_sum (
  at timestamptz NOT NULL,
  tenant_id uuid NOT NULL,
  -- Null: all of the tenant's.
  destination_id uuid,
  service_class sluice.service_class NOT NULL,
  region text NOT NULL,
  requests integer NOT NULL,
  delivered integer NOT NULL,
  rate_limited integer NOT NULL,
  permanent integer NOT NULL,
  server_error integer NOT NULL,
  network integer NOT NULL,
  blocked integer NOT NULL,
  leases_expired integer NOT NULL,
  died integer NOT NULL,
  first_ages integer[] NOT NULL,
  first_age_max_ms bigint NOT NULL,
  services integer[] NOT NULL,
  service_max_ms bigint NOT NULL,
  ends integer[] NOT NULL,
  end_attempts integer NOT NULL,
  UNIQUE NULLS NOT DISTINCT (at, tenant_id, destination_id, service_class)
);
SELECT sluice.pin_region('series_sum');
CREATE INDEX series_sum_tenant ON sluice.series_sum (tenant_id, at) WHERE destination_id IS NULL;
CREATE INDEX series_sum_destination ON sluice.series_sum (destination_id, at) WHERE destination_id IS NOT NULL;

-- The samples of tenants in steps of half an hour: the worst ages and depths of the step, and how many dead letters its last sample had.
-- A step without a row of the tenant is zero where a sampling succeeded.
CREATE TABLE sluice.queue_sample_30m (
  at timestamptz NOT NULL,
  tenant_id uuid NOT NULL,
  region text NOT NULL,
  oldest_ms bigint NOT NULL,
  due_ms bigint NOT NULL,
  due_count bigint NOT NULL,
  held_ms bigint NOT NULL,
  held_count bigint NOT NULL,
  in_flight bigint NOT NULL,
  dead bigint NOT NULL,
  PRIMARY KEY (at, tenant_id)
);
SELECT sluice.pin_region('queue_sample_30m');
CREATE INDEX queue_sample_30m_tenant ON sluice.queue_sample_30m (tenant_id, at);

-- As before, and beside it what is later than its sum.
CREATE OR REPLACE FUNCTION sluice.note_minutes() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_quarters timestamptz[];
  v_first timestamptz;
BEGIN
  SELECT array_agg(DISTINCT date_bin('15 minutes', a.minute, 'epoch')) FILTER (WHERE a.tenant_id IS NULL), min(a.minute)
    INTO v_quarters, v_first FROM added a;
  IF v_quarters IS NOT NULL THEN
    PERFORM sluice.sum_quarters(v_quarters);
  END IF;
  UPDATE sluice.series_summed s SET summed_to = date_bin('1 hour', v_first, 'epoch') WHERE s.summed_to > v_first;
  RETURN NULL;
END
$$;
CREATE FUNCTION sluice.note_tenant_samples() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_first timestamptz;
BEGIN
  SELECT min(a.at) INTO v_first FROM added a WHERE a.scope = 'tenant';
  UPDATE sluice.series_summed s SET summed_to = date_bin('1 hour', v_first, 'epoch') WHERE s.summed_to > v_first;
  RETURN NULL;
END
$$;
CREATE TRIGGER queue_sample_added AFTER INSERT ON sluice.queue_sample REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.note_tenant_samples();
CREATE OR REPLACE FUNCTION sluice.forget_minutes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE sluice.series_quarter, sluice.series_sum;
  RETURN NULL;
END
$$;
CREATE FUNCTION sluice.forget_samples() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE sluice.queue_sample_30m;
  RETURN NULL;
END
$$;
CREATE TRIGGER queue_sample_emptied AFTER TRUNCATE ON sluice.queue_sample FOR EACH STATEMENT EXECUTE FUNCTION sluice.forget_samples();

-- Archived rows by their event type, for the types that few of them have: each range of pages knows which types it has not. Looking for a
-- rare type in a week read every row of it. Some megabytes for ten million rows, and an ordinary finish hardly pays for it: a range
-- is summarised when it is full.
CREATE INDEX delivery_archive_type ON sluice.delivery_archive USING brin (event_type text_bloom_ops (n_distinct_per_range = 100, false_positive_rate = 0.005))
  WITH (pages_per_range = 32, autosummarize = on);
