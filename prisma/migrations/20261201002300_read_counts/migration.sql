-- Cancelled deliveries of one tenant, few among millions of delivered ones: how many of its archived rows were delivered is told by
-- counting all of them and these in indexes, not by reading ten thousand rows. An ordinary finish never fills it.
CREATE INDEX delivery_archive_cancelled_tenant ON sluice.delivery_archive (tenant_id, id) WHERE state = 'cancelled';
