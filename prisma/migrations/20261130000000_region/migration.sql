-- The region of this database, and the helpers every later migration uses.
--
-- The file and its checksum are the same in all regions. What differs is the setting `sluice.region`, which the
-- migration runner puts on the database before this file runs. From here on the region is a literal in CHECK
-- constraints, so that no setting, no caller and no bug can bring in another region's row.

CREATE SCHEMA IF NOT EXISTS sluice;

DO $$
BEGIN
  IF coalesce(current_setting('sluice.region', true), '') NOT IN ('us', 'eu') THEN
    RAISE EXCEPTION 'sluice.region is not set to us or eu on this database'
      USING HINT = 'Run `sluice migrate`, or ALTER DATABASE ... SET sluice.region = ''us'' before `prisma migrate deploy`.';
  END IF;
END
$$;

-- The smallest UUID whose UUIDv7 time is at or after the given moment: partition bounds and archive pruning use it.
CREATE FUNCTION sluice.uuid_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes a foreign row impossible in a table: CHECK (region = '<literal>') and no change of it.
CREATE FUNCTION sluice.pin_region(table_name text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE sluice.%I ADD CONSTRAINT %I CHECK (region = %L)',
                 table_name, table_name || '_region', current_setting('sluice.region'));
END
$$;

-- One row: which region this database is, and whether its claims are on.
CREATE TABLE sluice.region_control (
  region text PRIMARY KEY,
  draining boolean NOT NULL DEFAULT false,
  drain_reason text,
  drained_by text,
  drained_at timestamptz,
  -- Who may claim in this region; a hand-over changes it behind a barrier.
  claim_owner text NOT NULL DEFAULT 'sluice',
  -- Inherited where a tenant or destination has no limit of its own.
  default_destination_concurrency integer NOT NULL DEFAULT 10 CHECK (default_destination_concurrency BETWEEN 1 AND 10000),
  default_tenant_concurrency integer NOT NULL DEFAULT 100 CHECK (default_tenant_concurrency BETWEEN 1 AND 100000),
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (NOT draining OR drain_reason IS NOT NULL)
);
SELECT sluice.pin_region('region_control');
INSERT INTO sluice.region_control (region) VALUES (current_setting('sluice.region'));
-- A second row cannot pass the CHECK and the primary key; this refuses that the only one goes.
CREATE FUNCTION sluice.refuse() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation', TABLE = TG_TABLE_NAME;
END
$$;
CREATE TRIGGER region_control_stays BEFORE DELETE ON sluice.region_control
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('the row of region_control cannot be deleted');

-- One row per worker process that is alive or was lately.
CREATE TABLE sluice.worker_process (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'stopping')),
  slots integer NOT NULL CHECK (slots > 0),
  in_flight integer NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('worker_process');
