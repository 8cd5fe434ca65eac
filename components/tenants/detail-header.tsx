/** The head of a tenant's or destination's page: where one is, its name and id, its state, and what may be done. */
import Link from "next/link";
import { Fragment, type ReactNode } from "react";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";

export interface DetailHeaderProps {
  /** The way up, from the list on. */
  crumbs: readonly { label: string; href: string }[];
  /** Null while it is being read. */
  name: string | null;
  id: string;
  /** "tenant id" */
  what: string;
  state: ReactNode;
  asOf: string | null;
  controls: ReactNode;
}

export function DetailHeader({ crumbs, name, id, what, state, asOf, controls }: DetailHeaderProps) {
  return (
    <header className="grid gap-3">
      <div>
        <nav aria-label="Breadcrumb" className="text-muted text-table">
          {crumbs.map(({ label, href }, index) => (
            <Fragment key={href}>
              {index > 0 ? <span aria-hidden="true"> / </span> : null}
              <Link href={href} prefetch={false} className="underline-offset-4 hover:underline">
                {label}
              </Link>
            </Fragment>
          ))}
        </nav>
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="min-w-0 break-words font-semibold text-figure tracking-tight">
            {name ?? <span className="text-faint">{what.replace(/ id$/, "").replace(/^./, upper)}</span>}
          </h1>
          {state}
          <span className="inline-flex min-w-0 items-center gap-1 text-faint text-table">
            <code className="min-w-0 break-all font-mono">{id}</code>
            <CopyButton text={id} what={what} />
          </span>
          {asOf === null ? null : (
            <span className="text-faint text-table md:ml-auto">
              as of <Timestamp iso={asOf} form="clock" named />
            </span>
          )}
        </div>
      </div>
      {controls}
    </header>
  );
}

function upper(letter: string): string {
  return letter.toUpperCase();
}
