/** The sign-in page. Who is signed in already goes on to where they wanted to be. */
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { Login } from "#components/login/login.tsx";
import { loginReason } from "#components/login/reasons.ts";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBadge } from "#components/shell/environment-badge.tsx";
import { ThemeToggle } from "#components/shell/theme-toggle.tsx";
import { signIn } from "../access/auth.ts";
import { safeNext } from "../access/safe-next.ts";
import { readVisitor } from "../access/visitor.ts";
import { readEnvironmentName } from "../config.ts";

export const metadata: Metadata = { title: "Sign in" };

type Query = Promise<Record<string, string | string[] | undefined>>;

export default async function Page({ searchParams }: { searchParams: Query }) {
  const query = await searchParams;
  const next = safeNext(one(query.next));
  const visitor = await readVisitor();
  if (visitor.kind === "in") redirect(next);
  const { settings } = signIn();
  const reason = visitor.kind === "out" ? loginReason(one(query.reason), one(query.error)) : visitor.kind;
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 py-8 sm:py-[14vh]">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <Brand />
          <EnvironmentBadge name={readEnvironmentName()} />
          <span className="ml-auto">
            <ThemeToggle />
          </span>
        </div>
        <div className="rounded-lg border border-line bg-surface p-6">
          <Login
            next={next}
            reason={reason === "no_role" && visitor.kind !== "no_role" ? null : reason}
            local={settings.localAccounts}
            provider={settings.oidc?.name ?? null}
            signedInAs={visitor.kind === "no_role" ? visitor.principal.name : null}
          />
        </div>
      </div>
    </main>
  );
}

function one(value: string | string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}
