"use client";
/** A check box that says what it ticks, with a target that a finger hits. The press is what counts: Shift comes with it. */
import type { MouseEvent } from "react";

export interface SelectBoxProps {
  /** "Select delivery dlv_..." */
  label: string;
  checked: boolean;
  disabled?: boolean;
  onPress: (event: MouseEvent) => void;
}

export function SelectBox({ label, checked, disabled = false, onPress }: SelectBoxProps) {
  return (
    <span className="inline-flex size-6 items-center justify-center align-middle">
      <input
        type="checkbox"
        aria-label={label}
        checked={checked}
        disabled={disabled}
        readOnly
        onClick={onPress}
        className="size-4 accent-(--accent-solid)"
      />
    </span>
  );
}
