"use client";
/** What a service token needs: a name, a ceiling, what it may do, where, until when, and why. */
import { Field, INPUT, TextField } from "#components/ui/field.tsx";
import { CheckField } from "#components/ui/field-choice.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { ACTIONS, type Action, PERMISSIONS, ROLES, type Role } from "#domain/permissions.ts";
import { ROLE_WORDS } from "./grant-words.ts";
import { MAX_REASON_CHARS, MIN_REASON_CHARS, reasonError } from "./reason.ts";
import { type ScopeChoice, ScopeFields, scopeError } from "./scope-fields.tsx";

const NAME = /^[a-z0-9][a-z0-9-]{0,79}$/;
const MAX_NAME_CHARS = 80;
const DAYS = ["1", "7", "30", "90", "366"] as const;

export interface TokenValues {
  name: string;
  role: Role;
  scopes: readonly Action[];
  scope: ScopeChoice;
  days: string;
  reason: string;
}

export const EMPTY_TOKEN: TokenValues = {
  name: "",
  role: "viewer",
  scopes: ["read"],
  scope: { regions: [], tenants: null },
  days: "30",
  reason: "",
};

export interface TokenErrors {
  name: string | null;
  scopes: string | null;
  scope: string | null;
  reason: string | null;
}

export const NO_ERRORS: TokenErrors = { name: null, scopes: null, scope: null, reason: null };

/** Actions that a token of the role can have. It never sees bodies and makes no tokens and no grants. */
export function actionsOf(role: Role): Action[] {
  const never: readonly Action[] = ["reveal_body", "service_tokens", "access"];
  return ACTIONS.filter((action) => PERMISSIONS[action][role].allowed && !never.includes(action));
}

export function findErrors(values: TokenValues): TokenErrors {
  return {
    name: NAME.test(values.name) ? null : "Use lower case letters, digits and dashes, such as deploy-bot.",
    scopes: chosenScopes(values).length > 0 ? null : "Choose at least one action.",
    scope: scopeError(values.scope),
    reason: reasonError(values.reason),
  };
}

/** As POST /api/v1/tokens wants it. */
export function bodyOf(values: TokenValues): object {
  const { name, role, scope, days, reason } = values;
  return {
    name,
    role,
    scopes: chosenScopes(values),
    regions: scope.regions,
    ...(scope.tenants === null ? {} : { tenants: scope.tenants }),
    days: Number(days),
    reason: reason.trim(),
  };
}

function chosenScopes({ role, scopes }: TokenValues): Action[] {
  return actionsOf(role).filter((action) => scopes.includes(action));
}

export interface TokenFieldsProps {
  values: TokenValues;
  errors: TokenErrors;
  onChange: (values: TokenValues) => void;
}

export function TokenFields({ values, errors, onChange }: TokenFieldsProps) {
  const set = (part: Partial<TokenValues>) => onChange({ ...values, ...part });
  return (
    <>
      <TextField
        label="Name"
        hint="For the audit: which program it is."
        value={values.name}
        onChange={(name) => set({ name })}
        maxLength={MAX_NAME_CHARS}
        error={errors.name}
        mono
      />
      <Field label="At most the role">
        {(control) => (
          <select
            {...control}
            value={values.role}
            onChange={(event) => set({ role: event.target.value as Role })}
            className={`${INPUT} h-9 max-md:h-11`}
          >
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {ROLE_WORDS[role].label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <ActionChecks values={values} error={errors.scopes} onChange={(scopes) => set({ scopes })} />
      <ScopeFields value={values.scope} onChange={(scope) => set({ scope })} error={errors.scope} />
      <Field label="Ends after" hint="Every token ends.">
        {(control) => (
          <select
            {...control}
            value={values.days}
            onChange={(event) => set({ days: event.target.value })}
            className={`${INPUT} h-9 max-md:h-11`}
          >
            {DAYS.map((days) => (
              <option key={days} value={days}>
                {days === "1" ? "1 day" : `${days} days`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Textarea
        label="Reason"
        hint="Kept in the audit."
        value={values.reason}
        onChange={(reason) => set({ reason })}
        minChars={MIN_REASON_CHARS}
        maxChars={MAX_REASON_CHARS}
        error={errors.reason}
      />
    </>
  );
}

interface ActionChecksProps {
  values: TokenValues;
  error: string | null;
  onChange: (scopes: readonly Action[]) => void;
}

function ActionChecks({ values, error, onChange }: ActionChecksProps) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-table">May do</legend>
      <div className="grid gap-x-4 sm:grid-cols-2">
        {actionsOf(values.role).map((action) => (
          <CheckField
            key={action}
            label={<code className="font-mono text-table">{action}</code>}
            checked={values.scopes.includes(action)}
            onChange={(checked) =>
              onChange(checked ? [...values.scopes, action] : values.scopes.filter((one) => one !== action))
            }
          />
        ))}
      </div>
      <p aria-live="polite" className="text-danger text-table empty:hidden">
        {error ?? ""}
      </p>
    </fieldset>
  );
}
