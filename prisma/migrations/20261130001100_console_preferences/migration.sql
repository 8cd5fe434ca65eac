-- Saved views of the console: the filters of a list under a name, for one person or for all.
--
-- Like console_user this table holds rows only in the console's own database, and they belong to no region: which region
-- a view looks at is a part of the view.

CREATE TABLE sluice.console_saved_view (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES sluice.console_user (id) ON DELETE CASCADE,
  page text NOT NULL CHECK (page ~ '^[a-z][a-z-]{0,39}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  -- The address after the question mark, in one order.
  query text NOT NULL CHECK (length(query) <= 4000),
  shared boolean NOT NULL DEFAULT false,
  -- Null: all regions. A shared view that names one is for those who see it.
  region text CHECK (region IN ('us', 'eu')),
  -- A shared view that names a tenant, a destination or an id is for those who see all tenants.
  names_rows boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (user_id, page, name)
);
CREATE INDEX console_saved_view_shared ON sluice.console_saved_view (page, created_at) WHERE shared;
