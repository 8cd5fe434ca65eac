"use client";
/** Goes to the identity provider. Its address comes from the server, which keeps the state of the round trip. */
import { postJson } from "#components/queries/post-json.ts";
import { PRIMARY, SECONDARY } from "./button-classes.ts";
import { useAttempt } from "./use-attempt.ts";

export function ProviderButton({ name, next, primary }: { name: string; next: string; primary: boolean }) {
  const { busy, error, run } = useAttempt();
  async function start() {
    const { url } = await postJson<{ url: string }>("/api/auth/sign-in/oidc", { next });
    window.location.assign(url);
  }
  return (
    <div className="grid gap-2">
      <button
        type="button"
        disabled={busy}
        onClick={() => run(start)}
        className={primary ? PRIMARY : SECONDARY}
      >
        Continue with {name}
      </button>
      {error === null ? null : (
        <p role="alert" className="text-danger text-table">
          {error}
        </p>
      )}
    </div>
  );
}
