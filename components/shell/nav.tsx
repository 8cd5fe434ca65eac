"use client";
/** The pages that exist, as links; the rail and the sheet of small screens show the same list. */
import { Gauge, MailX, Send } from "lucide-react";
import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";
import { cx } from "#components/ui/cx.ts";

const PAGES = [
  { href: "/", label: "Overview", icon: Gauge },
  { href: "/deliveries", label: "Deliveries", icon: Send },
  { href: "/dead-letters", label: "Dead letters", icon: MailX },
] as const;

function isCurrent(href: string, pathname: string): boolean {
  return href === "/" ? pathname === "/" : pathname === href || pathname.startsWith(`${href}/`);
}

/** Keeps the region while moving between pages, because it is the one filter that all of them share. */
export function NavLinks({ onNavigate }: { onNavigate?: () => void }) {
  const pathname = usePathname();
  const region = useSearchParams().get("region");
  const suffix = region === "us" || region === "eu" ? `?region=${region}` : "";
  return (
    <ul className="grid gap-0.5">
      {PAGES.map(({ href, label, icon: Icon }) => {
        const current = isCurrent(href, pathname);
        return (
          <li key={href}>
            <Link
              href={`${href}${suffix}`}
              prefetch={false}
              onClick={onNavigate}
              aria-current={current ? "page" : undefined}
              className={cx(
                "flex h-8 items-center gap-2.5 rounded-md px-2.5 transition-colors duration-100 max-md:h-11",
                current ? "bg-hover font-medium text-fg" : "text-muted hover:bg-hover hover:text-fg",
              )}
            >
              <Icon
                aria-hidden="true"
                className={cx("size-4 shrink-0", current ? "text-accent" : "text-faint")}
                strokeWidth={1.75}
              />
              {label}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
