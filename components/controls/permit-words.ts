/** Why a control is not open to the caller, as a sentence beside its button. Pure. */
import type { Permits } from "#db/console/control-views.ts";
import type { Action } from "#domain/permissions.ts";

/** Null when it is allowed. */
export function refusalOf(permit: Permits, action: Action): string | null {
  const word = permit[action];
  if (word?.allowed) return null;
  return word?.reason ?? "Your role does not include it.";
}

export interface ReasonGroup {
  readonly keys: readonly string[];
  /** "Pause, Limits: needs the role operator or admin, in this scope." */
  readonly text: string;
}

/** Buttons with the same reason share one sentence. */
export function groupReasons(
  items: readonly { readonly key: string; readonly label: string; readonly reason: string | null }[],
): ReasonGroup[] {
  const byReason = new Map<string, { key: string; label: string }[]>();
  for (const { key, label, reason } of items) {
    if (reason !== null) byReason.set(reason, [...(byReason.get(reason) ?? []), { key, label }]);
  }
  return [...byReason].map(([reason, members]) => ({
    keys: members.map(({ key }) => key),
    text: `${members.map(({ label }) => label).join(", ")}: ${lower(reason)}${/[.!?]$/.test(reason) ? "" : "."}`,
  }));
}

/** Words of the API as a sentence; null stays null. */
export function sentence(words: string | null): string | null {
  if (words === null) return null;
  return `${capital(words)}${/[.!?]$/.test(words) ? "" : "."}`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A name in capitals (EU) stays one. */
function lower(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}
