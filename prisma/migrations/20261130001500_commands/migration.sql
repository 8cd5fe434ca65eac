-- How far those may raise limits who change them "within policy" (operators). An administrator sets the bounds; a limit
-- above them that stands already goes on, and may be lowered by anybody.
ALTER TABLE sluice.region_control
  ADD COLUMN policy_max_tenant_concurrency integer NOT NULL DEFAULT 1000 CHECK (policy_max_tenant_concurrency BETWEEN 1 AND 100000),
  ADD COLUMN policy_max_destination_concurrency integer NOT NULL DEFAULT 200 CHECK (policy_max_destination_concurrency BETWEEN 1 AND 10000),
  ADD COLUMN policy_max_rate_per_second numeric(10, 3) NOT NULL DEFAULT 1000
    CHECK (policy_max_rate_per_second > 0 AND policy_max_rate_per_second <= 100000);

-- A restricted body: out of reach of every attempt, like an erased one, but kept until a person gives it back or erases it.
-- It lies apart from sluice.payload, so that no statement of a worker can come by it. Retention does not take it.
CREATE TABLE sluice.payload_restricted (
  payload_id uuid PRIMARY KEY,
  region text NOT NULL,
  body bytea NOT NULL,
  restricted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  restricted_by text NOT NULL CHECK (length(restricted_by) BETWEEN 1 AND 200),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500)
);
SELECT sluice.pin_region('payload_restricted');
