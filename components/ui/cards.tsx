/** Lists on a narrow screen: a card for each row with the fields that decide what to do. */
import Link from "next/link";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";
import { QuietCopy, ShortId } from "./short-id.tsx";
import { Skeleton } from "./skeleton.tsx";

const SKELETON_CARDS = 6;

/** `className` has the height of a card. */
export function CardSkeletons({
  cards = SKELETON_CARDS,
  className = "h-32",
}: {
  cards?: number;
  className?: string;
}) {
  return (
    <div aria-hidden="true" className="grid gap-3 p-4">
      {Array.from({ length: cards }, (_, card) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
        <Skeleton key={card} className={cx("w-full", className)} />
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
      <CardFields className="pb-1">{children}</CardFields>
    </li>
  );
}

/** A card whose name is the id of a delivery. */
export function DeliveryCard({ id, children }: { id: string; children: ReactNode }) {
  return (
    <li className="border-line border-b px-4 py-3 last:border-b-0">
      <div className="flex items-center gap-1">
        <Link
          href={`/deliveries/${id}`}
          prefetch={false}
          className="inline-flex min-h-11 items-center underline underline-offset-4"
        >
          <ShortId id={id} />
        </Link>
        <QuietCopy id={id} what="delivery id" />
      </div>
      <CardFields>{children}</CardFields>
    </li>
  );
}

/** A card inside of a panel's own space. `href` absent: what it is about has no page. */
export function StackedCard({
  name,
  href,
  children,
}: {
  name: ReactNode;
  href?: string | undefined;
  children: ReactNode;
}) {
  return (
    <li className="grid gap-1 border-line border-b py-2 last:border-b-0">
      {href === undefined ? (
        <p className="break-words font-medium">{name}</p>
      ) : (
        <Link
          href={href}
          prefetch={false}
          className="inline-flex min-h-11 min-w-0 items-center break-words font-medium underline underline-offset-4"
        >
          {name}
        </Link>
      )}
      <CardFields>{children}</CardFields>
    </li>
  );
}

export function CardFields({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <dl className={cx("grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-table", className)}>
      {children}
    </dl>
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
