/** The frame of every page: skip link, rail, top bar, notices and the main region. */
import { Search } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { ControlHost } from "#components/controls/control-host.tsx";
import { Banners } from "./banners.tsx";
import { Bars } from "./bars.tsx";
import { Brand } from "./brand.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { FreshnessPill } from "./freshness-pill.tsx";
import { NavFoot, NavLinks } from "./nav.tsx";
import { NavSheet } from "./nav-sheet.tsx";
import { PaletteButton } from "./palette-button.tsx";
import { RegionFilter } from "./region-filter.tsx";
import { ShellControlsProvider } from "./shell-controls.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";
import { TimeRange } from "./time-range.tsx";
import { UserMenu } from "./user-menu.tsx";
import { ZoneToggle } from "./zone-toggle.tsx";

export interface ShellProps {
  environment: string;
  children: ReactNode;
}

/** Rail on the left from 768 px, a sheet below that. */
export function Shell({ environment, children }: ShellProps) {
  return (
    <ShellControlsProvider>
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent-solid px-3 py-2 text-white focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to content
      </a>
      <div className="flex min-h-dvh">
        <aside className="scroll-quiet sticky top-0 hidden h-dvh w-52 shrink-0 flex-col overflow-y-auto border-line border-r bg-surface p-3 md:flex">
          <div className="mb-4 flex h-8 shrink-0 items-center px-2.5">
            <Brand />
          </div>
          <nav aria-label="Main" className="flex flex-1 flex-col justify-between gap-6">
            <Suspense>
              <NavLinks />
              <NavFoot />
            </Suspense>
          </nav>
        </aside>
        <div className="flex min-w-0 flex-1 flex-col">
          <Bars>
            <TopBar environment={environment} />
            <Banners />
          </Bars>
          <main id="main" tabIndex={-1} className="min-w-0 flex-1 px-4 py-6 outline-none md:px-8">
            <div className="mx-auto w-full max-w-[1360px]">{children}</div>
          </main>
        </div>
      </div>
      <ControlHost />
    </ShellControlsProvider>
  );
}

function TopBar({ environment }: { environment: string }) {
  return (
    <header className="flex min-h-14 flex-wrap items-center gap-x-2 gap-y-1 border-line border-b bg-surface px-4 py-1.5 md:px-8">
      <Suspense>
        <NavSheet />
      </Suspense>
      <EnvironmentBadge name={environment} />
      <Suspense>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 empty:hidden max-md:order-last max-md:w-full">
          <RegionFilter />
          <TimeRange />
        </span>
      </Suspense>
      <span className="ml-auto flex items-center gap-1">
        <FreshnessPill />
        <span className="contents max-sm:hidden">
          <PaletteButton>
            <Search aria-hidden="true" className="size-4" />
          </PaletteButton>
          <ZoneToggle />
          <ThemeToggle />
        </span>
        <UserMenu />
      </span>
    </header>
  );
}
