-- Cancelled deliveries, few among millions of delivered ones. An ordinary finish fills neither index.

-- Of one tenant: how many of its archived rows were delivered is told by counting all of them and these in indexes, not by reading ten
-- thousand rows.
CREATE INDEX delivery_archive_cancelled_tenant ON sluice.delivery_archive (tenant_id, id) WHERE state = 'cancelled';
-- By their last answer: a code that hardly any of them has must not be looked for in all of them.
CREATE INDEX delivery_archive_cancelled_status ON sluice.delivery_archive (last_status, id) WHERE state = 'cancelled' AND last_status IS NOT NULL;
