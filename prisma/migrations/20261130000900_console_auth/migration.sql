-- Who may use the console: accounts, sessions, grants, service tokens, and the throttle of sign-ins.
--
-- These tables hold rows only in the console's own database (CONSOLE_DATABASE_URL, by default the first region's). The
-- same migrations run everywhere, so that every database has one schema; elsewhere the tables stay empty. Their rows
-- belong to no region, so they carry none: which regions a person may see stands in console_grant.regions.

CREATE TABLE sluice.console_user (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- Lower case: one mailbox is one person.
  email text NOT NULL UNIQUE CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 190),
  email_verified boolean NOT NULL DEFAULT false,
  image text,
  -- Set: no sign-in and no request of theirs is served any more.
  disabled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE sluice.console_session (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES sluice.console_user (id) ON DELETE CASCADE,
  token text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX console_session_user ON sluice.console_session (user_id);
CREATE INDEX console_session_expires ON sluice.console_session (expires_at);

-- How a person proves who they are: a local password (provider_id "credential") or an identity provider's subject.
CREATE TABLE sluice.console_account (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES sluice.console_user (id) ON DELETE CASCADE,
  provider_id text NOT NULL,
  account_id text NOT NULL,
  -- scrypt, with its salt.
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (provider_id, account_id)
);
CREATE INDEX console_account_user ON sluice.console_account (user_id);

-- Short-lived values of the sign-in with an identity provider.
CREATE TABLE sluice.console_verification (
  id uuid PRIMARY KEY,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX console_verification_identifier ON sluice.console_verification (identifier);

-- A role with the regions and tenants in which it holds. A person may have several; what one does not cover, it does not give.
CREATE TABLE sluice.console_grant (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES sluice.console_user (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'operator', 'admin')),
  regions text[] NOT NULL CHECK (cardinality(regions) BETWEEN 1 AND 2 AND regions <@ ARRAY['us', 'eu']),
  -- Null: every tenant of these regions, also those that come later.
  tenant_ids uuid[] CHECK (tenant_ids IS NULL OR cardinality(tenant_ids) BETWEEN 1 AND 1000),
  -- Bodies are shown only to who has this beside the role.
  can_reveal boolean NOT NULL DEFAULT false CHECK (NOT can_reveal OR role <> 'viewer'),
  granted_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz
);
CREATE INDEX console_grant_user ON sluice.console_grant (user_id);

-- For programs. Only the SHA-256 of a token is kept; the token itself is shown once.
CREATE TABLE sluice.console_service_token (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- The ceiling; of what the role may do the token may do only its scopes.
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'operator', 'admin')),
  scopes text[] NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 50),
  regions text[] NOT NULL CHECK (cardinality(regions) BETWEEN 1 AND 2 AND regions <@ ARRAY['us', 'eu']),
  tenant_ids uuid[] CHECK (tenant_ids IS NULL OR cardinality(tenant_ids) BETWEEN 1 AND 1000),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Every token ends.
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
  revoked_at timestamptz,
  revoked_by text,
  last_used_at timestamptz,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE UNIQUE INDEX console_service_token_name ON sluice.console_service_token (name) WHERE revoked_at IS NULL;

-- Attempts to sign in since window_at, by a hash of what they were for. Success takes the row away.
CREATE TABLE sluice.console_login_throttle (
  key_sha256 bytea PRIMARY KEY CHECK (length(key_sha256) = 32),
  attempts integer NOT NULL CHECK (attempts > 0),
  window_at timestamptz NOT NULL
);
CREATE INDEX console_login_throttle_window ON sluice.console_login_throttle (window_at);
