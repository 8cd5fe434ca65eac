/** Ages, counts and named values as tenants and destinations show them. A zero is quiet, what is late has an icon too. */
import Link from "next/link";
import type { ReactNode } from "react";
import { formatCount } from "#components/ui/format.ts";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { formatAge } from "#domain/queue-age.ts";

/** Where an age stands against its warning and its limit. */
export function ageTone(valueMs: number, warnMs: number, limitMs: number): Tone {
  if (valueMs > limitMs) return "danger";
  return valueMs > warnMs ? "warn" : "neutral";
}

export function Age({ ms, tone = "neutral" }: { ms: number; tone?: Tone }) {
  if (ms === 0) return <span className="text-faint">{formatAge(0)}</span>;
  if (tone === "neutral") return formatAge(ms);
  return <StatusText tone={tone} label={formatAge(ms)} className="font-medium" />;
}

/** A count that is exact up to `limit`; above it "1,000+". */
export function BoundedFigure({ count, limit, href }: { count: number; limit: number; href?: string }) {
  if (count === 0) return <span className="text-faint">0</span>;
  const text = count > limit ? `${formatCount(limit)}+` : formatCount(count);
  if (href === undefined) return text;
  return (
    <Link
      href={href}
      prefetch={false}
      className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
    >
      {text}
    </Link>
  );
}

/** There is no value, which is not a zero. */
export function Nothing({ label }: { label: string }) {
  return (
    <span className="text-faint">
      <span aria-hidden="true">–</span>
      <span className="sr-only">{label}</span>
    </span>
  );
}

interface FactProps {
  label: string;
  children: ReactNode;
  note?: ReactNode;
  /** Takes two places where there is room. */
  wide?: boolean;
}

/** A name and its value; stands in a `dl`. */
export function Fact({ label, children, note, wide = false }: FactProps) {
  return (
    <div className={wide ? "min-w-0 col-span-2" : "min-w-0"}>
      <dt className="text-faint text-table">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
      {note ? <dd className="min-w-0 break-words text-muted text-table">{note}</dd> : null}
    </div>
  );
}

/** Facts side by side, as many as fit. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))] gap-x-6 sm:grid-cols-[repeat(auto-fill,minmax(11rem,1fr))] gap-y-3">
      {children}
    </dl>
  );
}
