"use client";
/** The keys of the console, and how to switch them off. */
import Link from "next/link";
import { Dialog } from "#components/ui/dialog.tsx";
import { usePreference } from "#components/ui/preferences.ts";
import { SHORTCUT_GROUPS } from "./shortcut-map.ts";

/** Opened by `?` and from the foot of the rail. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
  const off = usePreference("shortcuts") === "off";
  return (
    <Dialog open onClose={onClose} title="Keyboard" width="wide">
      <div className="grid gap-5">
        <p className="text-muted text-table">
          {off
            ? "Single keys are switched off in this browser; Ctrl K works all the same. "
            : "Keys do nothing while you type, in dialogs and with modifiers. No key changes a delivery, a limit or a pause. "}
          <Link href="/settings" onClick={onClose} className="text-accent underline underline-offset-4">
            {off ? "Switch them on in the settings" : "Switch them off in the settings"}
          </Link>
        </p>
        {SHORTCUT_GROUPS.map(({ title, keys }) => (
          <section key={title}>
            <h3 className="mb-1.5 font-semibold text-table">{title}</h3>
            <dl className="grid gap-x-8 gap-y-1 text-table sm:grid-cols-2">
              {keys.map((entry) => (
                <div key={entry.does} className="flex min-h-7 items-baseline gap-3">
                  <dt className="flex w-24 shrink-0 flex-wrap gap-1">
                    {entry.keys.map((text) => (
                      <kbd
                        key={text}
                        className="whitespace-nowrap rounded-sm border border-line-strong bg-subtle px-1.5 font-mono text-axis"
                      >
                        {text}
                      </kbd>
                    ))}
                  </dt>
                  <dd className="text-muted">{entry.does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
