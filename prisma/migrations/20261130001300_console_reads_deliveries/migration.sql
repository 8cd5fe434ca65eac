-- Indexes for the console's list of deliveries. None on the hot table, and none that an ordinary finish has to fill: a
-- delivered row enters neither.

-- Cancelled rows are few among millions of delivered ones: the list of them must not walk the archive.
CREATE INDEX delivery_archive_cancelled ON sluice.delivery_archive (id) WHERE state = 'cancelled';

-- Dead letters of one reason in the order of the list.
CREATE INDEX dead_letter_reason ON sluice.dead_letter (reason, id);
