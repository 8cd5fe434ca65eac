"use client";
/**
 * The buttons of a page that open control dialogs. Nothing is hidden: what the caller may not do stays in sight, with the
 * reason as text beside the buttons that belongs to them for readers too. A button decides nothing; the API does.
 */
import { useId } from "react";
import { cx } from "#components/ui/cx.ts";
import { Menu } from "#components/ui/menu.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { Permits } from "#db/console/control-views.ts";
import { ControlHost } from "./control-host.tsx";
import { ACTION_OF_VERB, type ControlTarget, type Verb } from "./control-request.ts";
import { openControl } from "./control-store.ts";
import { whereOf } from "./control-words.ts";
import { groupReasons, refusalOf } from "./permit-words.ts";

export interface ControlItem {
  /** Stays the same while the label changes (Pause, Resume), so that the focus stays on the button. */
  key: string;
  verb: Verb;
  label: string;
  /** What it is about, where that is not what the bar is about. */
  target?: ControlTarget;
  /** Why the state of the row does not allow it now; null: it does. */
  blocked?: string | null;
}

export interface ControlBarProps {
  target: ControlTarget;
  /** Null while they are being read. */
  permit: Permits | null;
  /** Why nothing can be changed now, or null. */
  outage: string | null;
  buttons: readonly ControlItem[];
  more: readonly ControlItem[];
  className?: string;
}

export function ControlBar({ target, permit, outage, buttons, more, className }: ControlBarProps) {
  const id = useId();
  if (permit === null && outage === null) {
    return (
      <div className={cx("flex gap-2", className)} aria-busy="true">
        {buttons.map(({ key }) => (
          <Skeleton key={key} className="h-8 w-20 max-md:h-11" />
        ))}
      </div>
    );
  }
  const refused = (item: ControlItem) =>
    outage ?? refusalOf(permit ?? {}, ACTION_OF_VERB[item.verb]) ?? item.blocked ?? null;
  const reasons = groupReasons(
    buttons.map((item) => ({ key: item.key, label: item.label, reason: refused(item) })),
  );
  const open = (item: ControlItem) => openControl({ target: item.target ?? target, verb: item.verb });
  return (
    <div className={cx("grid gap-1.5", className)}>
      <fieldset aria-label={`Controls of ${whereOf(target)}`} className="flex flex-wrap items-center gap-2">
        {buttons.map((item) => {
          const at = reasons.findIndex((reason) => reason.keys.includes(item.key));
          return (
            <ControlButton
              key={item.key}
              label={item.label}
              describedBy={at === -1 ? undefined : `${id}-${at}`}
              onPress={() => open(item)}
            />
          );
        })}
        {more.length === 0 ? null : (
          <Menu
            label="More controls"
            items={more.map((item) => ({
              key: item.key,
              label: item.label,
              onSelect: () => open(item),
              disabled: refused(item) ?? undefined,
            }))}
          />
        )}
      </fieldset>
      {reasons.map((reason, at) => (
        <p key={reason.text} id={`${id}-${at}`} className="max-w-prose text-muted text-table">
          {reason.text}
        </p>
      ))}
      <ControlHost />
    </div>
  );
}

export interface ControlButtonProps {
  label: string;
  /** The id of the reason why it is shut; undefined: it is open. */
  describedBy: string | undefined;
  onPress: () => void;
}

/** Not the browser's `disabled`: the button can be reached by keyboard, so that its reason is heard. */
export function ControlButton({ label, describedBy, onPress }: ControlButtonProps) {
  const disabled = describedBy !== undefined;
  return (
    <button
      type="button"
      aria-disabled={disabled}
      aria-describedby={describedBy}
      onClick={disabled ? undefined : onPress}
      className={cx(
        "inline-flex h-8 shrink-0 items-center justify-center whitespace-nowrap rounded-md border border-line-strong bg-surface px-2.5 font-medium text-table transition-colors duration-100 max-md:h-11",
        disabled ? "cursor-not-allowed text-faint" : "text-fg hover:bg-hover",
      )}
    >
      {label}
    </button>
  );
}
