/** Why somebody stands at the sign-in, in words. The key comes from the address, so only known ones are shown. */

export const LOGIN_REASONS = {
  expired: { bad: false, text: "Your session has ended. Sign in, and you are back where you were." },
  signed_out: { bad: false, text: "You are signed out." },
  no_role: {
    bad: true,
    text: "You are signed in, but you have no role, so there is nothing to show. Ask an administrator to grant you one.",
  },
  not_allowed: {
    bad: true,
    text: "This identity may not use this console: its e-mail is not verified or of a domain that is not allowed, or the account was disabled.",
  },
  failed: { bad: true, text: "The identity provider did not complete the sign-in. Try again." },
  unavailable: {
    bad: true,
    text: "The console's own database does not answer, so nobody can be checked. Deliveries go on without the console.",
  },
} as const satisfies Record<string, { bad: boolean; text: string }>;

export type LoginReason = keyof typeof LOGIN_REASONS;

/** What the way back from the identity provider says when an identity was refused, not when something failed. */
const NOT_ALLOWED: ReadonlySet<string> = new Set([
  "not_allowed",
  "signup_disabled",
  "email_not_verified",
  "account_not_linked",
  "unable_to_create_session",
]);

/** `reason` is ours; `error` is what the identity provider's way back brought. */
export function loginReason(reason: string | null, error: string | null): LoginReason | null {
  if (error !== null) return NOT_ALLOWED.has(error) ? "not_allowed" : "failed";
  return reason !== null && Object.hasOwn(LOGIN_REASONS, reason) ? (reason as LoginReason) : null;
}
