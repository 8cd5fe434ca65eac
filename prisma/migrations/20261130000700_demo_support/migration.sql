-- The demo's business, not the product: a support desk, and the system of a customer of it that receives its webhooks.
-- The two sides share a database because it is a demo; no statement joins one with the other. An adopter leaves this
-- file out.

-- The desk: what the application writes. -----------------------------------------------------------------------------

CREATE TABLE sluice.demo_support_ticket (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  -- Who is told of the ticket's follow-ups and enrichment.
  destination_id uuid NOT NULL,
  subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 200),
  -- Rises with every change of the subject; webhooks name the version that they speak of.
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  enriched_version integer NOT NULL DEFAULT 0,
  -- When somebody promised to look again; null when nobody did.
  follow_up_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (enriched_version BETWEEN 0 AND version)
);
SELECT sluice.pin_region('demo_support_ticket');
CREATE INDEX demo_support_ticket_follow_up ON sluice.demo_support_ticket (follow_up_at, id) WHERE follow_up_at IS NOT NULL;
CREATE INDEX demo_support_ticket_enrich ON sluice.demo_support_ticket (id) WHERE enriched_version < version;
CREATE INDEX demo_support_ticket_tenant ON sluice.demo_support_ticket (tenant_id, id);

-- An order to tell a search index of every ticket of one tenant.
CREATE TABLE sluice.demo_support_index_batch (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  -- Counts the tenant's batches: the same ticket in the next batch is another fact.
  generation integer NOT NULL CHECK (generation > 0),
  -- Tickets up to this id are written; it moves in the transaction that writes them.
  last_ticket_id uuid,
  written integer NOT NULL DEFAULT 0 CHECK (written >= 0),
  ordered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The first write: the batch is spread from here on.
  started_at timestamptz,
  finished_at timestamptz,
  UNIQUE (tenant_id, generation)
);
SELECT sluice.pin_region('demo_support_index_batch');
-- One unfinished batch of a tenant at a time.
CREATE UNIQUE INDEX demo_support_index_batch_open ON sluice.demo_support_index_batch (tenant_id) WHERE finished_at IS NULL;

-- The customer: what the receiving endpoint writes. ------------------------------------------------------------------

-- A row says: the effect of this key is here. It is written in the transaction of the effect and in no other.
CREATE TABLE sluice.demo_inbound_key (
  endpoint_id uuid NOT NULL,
  idempotency_key text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  region text NOT NULL,
  -- The signature covers webhook-id but not the key's header: both must be new, or both the same as before.
  webhook_id text NOT NULL CHECK (length(webhook_id) BETWEEN 1 AND 255),
  body_sha256 bytea NOT NULL CHECK (octet_length(body_sha256) = 32),
  -- Null only inside the transaction that claims the key.
  result text CHECK (result IN ('applied', 'superseded', 'ignored')),
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (endpoint_id, idempotency_key),
  UNIQUE (endpoint_id, webhook_id)
);
SELECT sluice.pin_region('demo_inbound_key');
CREATE INDEX demo_inbound_key_age ON sluice.demo_inbound_key (received_at);

-- Follow-ups and enrichments that were carried out. Nothing here is unique by key on purpose: an effect that came twice
-- would stand here twice.
CREATE TABLE sluice.demo_inbound_activity (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  region text NOT NULL,
  endpoint_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('follow_up', 'enrichment')),
  idempotency_key text NOT NULL,
  detail text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('demo_inbound_activity');
CREATE INDEX demo_inbound_activity_age ON sluice.demo_inbound_activity (at);

-- The search index. Deliveries come in any order, so a document takes only what is not older than what it has.
CREATE TABLE sluice.demo_inbound_document (
  endpoint_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  region text NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  subject text NOT NULL,
  -- How often it was written: the effect that a test counts.
  writes integer NOT NULL DEFAULT 1 CHECK (writes > 0),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (endpoint_id, ticket_id)
);
SELECT sluice.pin_region('demo_inbound_document');
