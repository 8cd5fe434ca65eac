"use client";
/** What every step of a draft shows the same way: its frame with whether it is done, its button, and why it was refused. */
import type { ReactNode } from "react";
import { CommandError } from "#components/controls/command-error.tsx";
import type { CommandPhase } from "#components/controls/use-command.ts";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusText } from "#components/ui/status.tsx";
import type { Step } from "./use-step.ts";

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

interface SaveButtonProps {
  label: string;
  disabled: boolean;
}

export interface SaveRowProps {
  label: string;
  step: Step;
  unsaved: boolean;
  /** Why it cannot be saved here; null: it can. */
  refused: string | null;
}

/** Sends the form that it stands in, and says whether what was typed is stored. */
export function SaveRow({ label, step, unsaved, refused }: SaveRowProps) {
  return (
    <p className="flex flex-wrap items-center gap-3">
      <SaveButton label={label} disabled={step.phase.at === "requested"} />
      <span role="status" className="text-muted text-table empty:hidden">
        {unsaved ? "Not saved yet." : step.saved ? "Saved." : ""}
      </span>
      {refused === null ? null : <span className="text-muted text-table">{refused}</span>}
    </p>
  );
}

function SaveButton({ label, disabled }: SaveButtonProps) {
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
