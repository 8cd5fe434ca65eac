-- Indexes for the console's pages of tenants and destinations. Each serves a read that is bounded by one tenant or one
-- destination; without them such a read would walk everybody's rows.

-- Success, latency and the minutes in which a destination was tried: the newest first, one destination at a time.
CREATE INDEX attempt_rollup_destination ON sluice.attempt_rollup (destination_id, minute);

-- Who is judged down. A handful of rows out of ten thousand.
CREATE INDEX destination_state_open ON sluice.destination_state (destination_id) WHERE breaker = 'open';

-- Destinations by name, a page at a time, whatever the database's own collation is.
CREATE INDEX destination_name ON sluice.destination (name COLLATE "C", id) WHERE deleted_at IS NULL;

-- Everything that was done to a tenant and its destinations.
CREATE INDEX operator_action_tenant ON sluice.operator_action (tenant_id, at DESC, id) WHERE tenant_id IS NOT NULL;
