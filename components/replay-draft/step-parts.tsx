"use client";
/** What every step of a draft shows the same way: its frame with whether it is done, its button, and why it was refused. */
import type { ReactNode } from "react";
import { CommandError } from "#components/controls/command-error.tsx";
import type { CommandPhase } from "#components/controls/use-command.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusText } from "#components/ui/status.tsx";

export interface StepPanelProps {
  title: string;
  done: boolean;
  /** What is missing, in words; shown while it is not done. */
  missing?: string;
  children: ReactNode;
}

export function StepPanel({ title, done, missing = "To do", children }: StepPanelProps) {
  return (
    <Panel
      title={title}
      actions={
        <StatusText tone={done ? "ok" : "warn"} label={done ? "Done" : missing} className="text-table" />
      }
    >
      {children}
    </Panel>
  );
}

export interface SaveButtonProps {
  label: string;
  disabled: boolean;
}

/** Sends the form that it stands in. */
export function SaveButton({ label, disabled }: SaveButtonProps) {
  return (
    <button
      type="submit"
      disabled={disabled}
      className="inline-flex min-h-8 items-center rounded-md bg-accent-solid px-3 py-1 font-medium text-table text-white disabled:opacity-50 max-md:min-h-11"
    >
      {label}
    </button>
  );
}

export function Refused({ phase, onReload }: { phase: CommandPhase; onReload: () => void }) {
  if (phase.at !== "refused") return null;
  return <CommandError error={phase.error} nowMs={Date.now() - clockSkewMs()} onReload={onReload} />;
}
