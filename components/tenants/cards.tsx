/** Lists on a narrow screen: a card for each row with the fields that decide what to do. */
import Link from "next/link";
import type { ReactNode } from "react";
import { Skeleton } from "#components/ui/skeleton.tsx";

const SKELETON_CARDS = 6;

export function CardSkeletons() {
  return (
    <div aria-hidden="true" className="grid gap-3 p-4">
      {Array.from({ length: SKELETON_CARDS }, (_, card) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
        <Skeleton key={card} className="h-32 w-full" />
      ))}
    </div>
  );
}

export function Cards({ caption, busy, children }: { caption: string; busy: boolean; children: ReactNode }) {
  return (
    <ul aria-label={caption} aria-busy={busy}>
      {children}
    </ul>
  );
}

/** `aside` stands beside the name, which is the link. */
export function Card({
  name,
  href,
  aside,
  children,
}: {
  name: string;
  href: string;
  aside: ReactNode;
  children: ReactNode;
}) {
  return (
    <li className="border-line border-b px-4 py-2 last:border-b-0">
      <div className="flex items-center justify-between gap-3">
        <Link
          href={href}
          prefetch={false}
          className="inline-flex min-h-11 min-w-0 items-center break-words font-medium underline underline-offset-4"
        >
          {name}
        </Link>
        <span className="text-muted text-table">{aside}</span>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 pb-1 text-table">{children}</dl>
    </li>
  );
}

export function CardField({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
