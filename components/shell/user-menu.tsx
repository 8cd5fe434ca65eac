"use client";
/** Who is signed in and as what, and the way out. */
import { CircleUser, LogOut } from "lucide-react";
import Link from "next/link";
import { useId, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { Button } from "#components/ui/button.tsx";
import { RefreshSelect } from "./refresh-menu.tsx";
import { grantWords, useSignedIn } from "./signed-in.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";
import { ZoneToggle } from "./zone-toggle.tsx";

/** A popover of the browser: Escape and a press outside close it, and the focus goes back to the button. */
export function UserMenu() {
  const signedIn = useSignedIn();
  const id = useId();
  if (signedIn === null) return null;
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        aria-label={`Signed in as ${signedIn.name}. Account`}
        title={`Signed in as ${signedIn.name}`}
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors duration-100 hover:bg-hover hover:text-fg max-md:size-11"
      >
        <CircleUser aria-hidden="true" className="size-4" />
      </button>
      <div
        id={id}
        popover="auto"
        className="fixed inset-auto top-14 right-4 m-0 w-72 max-w-[calc(100vw-2rem)] rounded-lg border border-line bg-surface p-4 text-fg shadow-overlay md:right-8"
      >
        <p className="truncate font-medium">{signedIn.name}</p>
        {signedIn.email === null ? null : <p className="truncate text-muted text-table">{signedIn.email}</p>}
        <ul className="mt-3 grid gap-1 border-line border-t pt-3 text-table">
          {signedIn.roles.map((grant) => (
            <li key={grantWords(grant)}>{grantWords(grant)}</li>
          ))}
        </ul>
        {/* On a phone the bar has no room for them. */}
        <p className="mt-3 flex items-center justify-end gap-1 border-line border-t pt-2 sm:hidden">
          <span className="mr-auto text-muted text-table">Times and theme</span>
          <ZoneToggle />
          <ThemeToggle />
        </p>
        <p className="mt-2 flex items-center gap-2 sm:hidden">
          <span className="mr-auto text-muted text-table">Refresh</span>
          <RefreshSelect className="max-w-44" />
        </p>
        <Link
          href="/settings"
          prefetch={false}
          className="mt-3 flex min-h-8 items-center border-line border-t pt-3 text-accent text-table underline-offset-4 hover:underline max-md:min-h-11"
        >
          Settings
        </Link>
        <SignOutButton className="mt-3 w-full" />
      </div>
    </>
  );
}

/** Ends the session on the server, then leaves the page and everything that it has read. */
export function SignOutButton({ className = "" }: { className?: string }) {
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");

  async function signOut() {
    setState("busy");
    try {
      await postJson("/api/auth/sign-out", {});
      window.location.assign("/login?reason=signed_out");
    } catch {
      setState("failed");
    }
  }

  return (
    <>
      <Button className={className} disabled={state === "busy"} onClick={() => void signOut()}>
        <LogOut aria-hidden="true" className="size-3.5" />
        Sign out
      </Button>
      {state === "failed" ? (
        <p role="alert" className="mt-2 text-danger text-table">
          Not signed out: the console did not answer. Try again.
        </p>
      ) : null}
    </>
  );
}
