-- What counts as late in this region: data, versioned; the newest row is in force, over the defaults of domain/objectives.ts.
CREATE TABLE sluice.objective_policy (
  version integer PRIMARY KEY CHECK (version > 0),
  region text NOT NULL,
  body jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
  created_by text NOT NULL CHECK (length(created_by) BETWEEN 1 AND 200),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('objective_policy');
CREATE TRIGGER objective_policy_append_only BEFORE UPDATE OR DELETE ON sluice.objective_policy
  FOR EACH ROW EXECUTE FUNCTION sluice.refuse('a policy version cannot be changed; write the next version');
