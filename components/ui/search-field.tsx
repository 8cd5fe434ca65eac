"use client";
/** A search for one exact text. It runs when it is submitted, not while it is typed. */
import { Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { cx } from "./cx.ts";

const MAX_CHARS = 255;
const SIZES = { long: "basis-72 md:max-w-md", short: "basis-44 md:max-w-60" };

export interface SearchFieldProps {
  label: string;
  /** What fits into the field where the label does not. */
  placeholder?: string;
  /** "short": beside another search. */
  size?: keyof typeof SIZES;
  value: string;
  onSubmit: (text: string) => void;
}

/** Give it a key when its value can change from outside. */
export function SearchField({
  label,
  placeholder = label,
  size = "long",
  value,
  onSubmit,
}: SearchFieldProps) {
  const [text, setText] = useState(value);

  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit(text.trim());
  }

  return (
    <form onSubmit={submit} className={cx("relative min-w-0 flex-1", SIZES[size])}>
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        maxLength={MAX_CHARS}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-surface pr-2.5 pl-8 text-table placeholder:text-faint max-md:h-11"
      />
    </form>
  );
}
