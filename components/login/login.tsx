"use client";
/** The sign-in: the identity provider's button, the local form where there is one, and why one is here. */
import { SignOutButton } from "#components/shell/user-menu.tsx";
import { LocalForm } from "./local-form.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { LOGIN_REASONS, type LoginReason } from "./reasons.ts";

export interface LoginProps {
  /** Where to go afterwards: a path of the console. */
  next: string;
  reason: LoginReason | null;
  local: boolean;
  /** Name of the identity provider, or null when there is none. */
  provider: string | null;
  /** Set when somebody is signed in who may see nothing. */
  signedInAs: string | null;
}

export function Login({ next, reason, local, provider, signedInAs }: LoginProps) {
  return (
    <>
      <h1 className="font-semibold text-figure tracking-tight">
        {signedInAs === null ? "Sign in" : "No role yet"}
      </h1>
      {reason === null ? null : <Reason reason={reason} />}
      {signedInAs === null ? (
        <div className="mt-6 grid gap-6">
          {provider === null ? null : <ProviderButton name={provider} next={next} primary={!local} />}
          {provider !== null && local ? <Divider /> : null}
          {local ? <LocalForm next={next} /> : null}
        </div>
      ) : (
        <div className="mt-6">
          <p className="mb-4 text-muted text-table">
            Signed in as <span className="font-medium text-fg">{signedInAs}</span>.
          </p>
          <SignOutButton />
        </div>
      )}
    </>
  );
}

function Reason({ reason }: { reason: LoginReason }) {
  const { bad, text } = LOGIN_REASONS[reason];
  return bad ? (
    <p role="alert" className="mt-4 rounded-md border border-danger-mark bg-danger-soft px-3 py-2 text-table">
      {text}
    </p>
  ) : (
    <p role="status" className="mt-4 rounded-md border border-line bg-subtle px-3 py-2 text-table">
      {text}
    </p>
  );
}

function Divider() {
  return (
    <p className="flex items-center gap-3 text-axis text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or with a local account
    </p>
  );
}
