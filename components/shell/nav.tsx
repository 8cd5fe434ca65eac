"use client";
/** The pages that exist, as links; the rail and the sheet of small screens show the same list. */
import { Info, Keyboard } from "lucide-react";
import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";
import { useActiveControls } from "#components/queries/shell.ts";
import { cx } from "#components/ui/cx.ts";
import { isCurrent, NAV_PAGES, type NavPage, regionSuffix } from "./nav-pages.ts";
import { useShell } from "./shell-context.ts";

/** Keeps the region while moving between pages. */
export function NavLinks({ onNavigate }: { onNavigate?: () => void }) {
  const pathname = usePathname();
  const region = useSearchParams().get("region");
  const awaiting = useAwaitingMe();
  return (
    <ul className="grid gap-0.5">
      {NAV_PAGES.map((page) => (
        <NavLink
          key={page.href}
          page={page}
          href={`${page.href}${regionSuffix(region, pathname, page.href)}`}
          current={isCurrent(page.href, pathname)}
          onNavigate={onNavigate}
          awaiting={page.href === "/replays" ? awaiting : 0}
        />
      ))}
    </ul>
  );
}

/** Over all regions in scope: who may review in one of them is asked wherever they are. It is in the banners' own read. */
function useAwaitingMe(): number {
  const { data } = useActiveControls();
  const answers = data?.regions ?? [];
  return answers.reduce((sum, answer) => sum + (answer.status === "ok" ? answer.data.awaitingMe : 0), 0);
}

/** Help stands in the same place on every page: at the foot of the rail. */
export function NavFoot({ onNavigate }: { onNavigate?: () => void }) {
  const pathname = usePathname();
  const { openHelp } = useShell();
  return (
    <ul className="grid gap-0.5 border-line border-t pt-3">
      <li>
        <button
          type="button"
          onClick={() => {
            onNavigate?.();
            openHelp();
          }}
          className={cx(ENTRY, QUIET, "w-full")}
        >
          <Keyboard aria-hidden="true" className="size-4 shrink-0 text-faint" strokeWidth={1.75} />
          Keyboard
          <kbd className="ml-auto rounded-sm border border-line-strong px-1 font-mono text-axis text-faint">
            ?
          </kbd>
        </button>
      </li>
      <NavLink
        page={{ href: "/about", label: "About", icon: Info }}
        href="/about"
        current={pathname === "/about"}
        onNavigate={onNavigate}
      />
    </ul>
  );
}

const ENTRY = "flex h-8 items-center gap-2.5 rounded-md px-2.5 transition-colors duration-100 max-md:h-11";
const QUIET = "text-muted hover:bg-hover hover:text-fg";

interface NavLinkProps {
  page: NavPage;
  href: string;
  current: boolean;
  onNavigate: (() => void) | undefined;
  /** Batches whose second person one may be. */
  awaiting?: number;
}

function NavLink({ page: { label, icon: Icon }, href, current, onNavigate, awaiting = 0 }: NavLinkProps) {
  return (
    <li>
      <Link
        href={href}
        prefetch={false}
        onClick={onNavigate}
        aria-current={current ? "page" : undefined}
        className={cx(ENTRY, current ? "bg-hover font-medium text-fg" : QUIET)}
      >
        <Icon
          aria-hidden="true"
          className={cx("size-4 shrink-0", current ? "text-accent" : "text-faint")}
          strokeWidth={1.75}
        />
        {label}
        {awaiting === 0 ? null : (
          <span className="ml-auto rounded-full bg-warn-soft px-1.5 font-medium text-axis text-warn">
            {awaiting}
            <span className="sr-only">{awaiting === 1 ? " waits" : " wait"} for your review</span>
          </span>
        )}
      </Link>
    </li>
  );
}
