-- The demo's business, not the product: card-authorisation holds and the ledger. An adopter leaves this file out.

CREATE TABLE sluice.demo_card_hold (
  id uuid PRIMARY KEY,
  region text NOT NULL,
  tenant_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  card_last4 text NOT NULL CHECK (card_last4 ~ '^[0-9]{4}$'),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'captured', 'released')),
  expires_at timestamptz NOT NULL,
  released_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((state = 'released') = (released_at IS NOT NULL))
);
SELECT sluice.pin_region('demo_card_hold');
CREATE INDEX demo_card_hold_expired ON sluice.demo_card_hold (expires_at, id) WHERE state = 'active';

-- The ledger accepts each key once, whatever the receiver does with it.
CREATE TABLE sluice.demo_ledger_entry (
  idempotency_key text PRIMARY KEY,
  region text NOT NULL,
  hold_id uuid NOT NULL REFERENCES sluice.demo_card_hold (id),
  kind text NOT NULL CHECK (kind IN ('hold_released')),
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
SELECT sluice.pin_region('demo_ledger_entry');
CREATE INDEX demo_ledger_entry_hold ON sluice.demo_ledger_entry (hold_id);
