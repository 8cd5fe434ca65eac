"use client";
/** A text field over a list of things to go to or do: the browser's dialog, a combobox and a list box, and nothing else. */
import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { cx } from "./cx.ts";

export interface PaletteEntry {
  key: string;
  /** Entries of one group stand together under its name. */
  group: string;
  label: string;
  /** Behind the label, smaller. */
  detail?: string;
  onSelect: () => void;
}

export interface PaletteListProps {
  /** Names the dialog and its field. */
  label: string;
  placeholder: string;
  text: string;
  onText: (text: string) => void;
  entries: readonly PaletteEntry[];
  /** Under the list: what is being read, what was not found. */
  status: ReactNode;
  onClose: () => void;
}

const MAX_CHARS = 255;

/** Arrow keys move, Enter chooses, Escape closes. The focus stays in the field. */
export function PaletteList(props: PaletteListProps) {
  const { label, onText, entries, status, onClose } = props;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState(0);
  const at = Math.min(chosen, Math.max(0, entries.length - 1));
  useModal(dialog);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, at]);

  function onKeyDown(event: KeyboardEvent) {
    const next = stepOf(event.key, at, entries.length);
    if (next !== null) setChosen(next);
    else if (event.key === "Enter") entries[at]?.onSelect();
    else return;
    event.preventDefault();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it; a press beside it is for the pointer alone.
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      className="fixed inset-x-0 top-[12dvh] m-0 mx-auto w-[calc(100%-2rem)] max-w-xl overflow-hidden rounded-lg border border-line bg-surface p-0 text-fg shadow-overlay"
    >
      <PaletteField
        {...props}
        listId={`${id}-list`}
        chosenId={entries.length === 0 ? undefined : `${id}-${at}`}
        onText={(next) => {
          onText(next);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        className="scroll-quiet max-h-[50dvh] overflow-y-auto p-1.5"
      >
        {entries.map((entry, index) => (
          <Option
            key={entry.key}
            id={`${id}-${index}`}
            entry={entry}
            heading={entries[index - 1]?.group === entry.group ? null : entry.group}
            chosen={index === at}
            onPoint={() => setChosen(index)}
          />
        ))}
      </div>
      <p role="status" className="border-line border-t px-4 py-2 text-faint text-table empty:hidden">
        {status}
      </p>
    </dialog>
  );
}

interface PaletteFieldProps extends Pick<PaletteListProps, "label" | "placeholder" | "text" | "onText"> {
  listId: string;
  chosenId: string | undefined;
  onKeyDown: (event: KeyboardEvent) => void;
}

function PaletteField({ label, placeholder, text, onText, listId, chosenId, onKeyDown }: PaletteFieldProps) {
  return (
    <div className="flex items-center gap-2.5 border-line border-b px-4">
      <Search aria-hidden="true" className="size-4 shrink-0 text-faint" />
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={chosenId}
        placeholder={placeholder}
        value={text}
        maxLength={MAX_CHARS}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-12 w-full min-w-0 bg-transparent outline-none placeholder:text-faint"
      />
    </div>
  );
}

interface OptionProps {
  id: string;
  entry: PaletteEntry;
  heading: string | null;
  chosen: boolean;
  onPoint: () => void;
}

function Option({ id, entry, heading, chosen, onPoint }: OptionProps) {
  return (
    <>
      {heading === null ? null : (
        <p role="presentation" className="px-2.5 pt-2 pb-1 text-axis text-faint">
          {heading}
        </p>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys. */}
      <div
        id={id}
        role="option"
        aria-selected={chosen}
        tabIndex={-1}
        onClick={entry.onSelect}
        onPointerMove={onPoint}
        className={cx(
          "flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-2.5 text-body max-md:min-h-11",
          chosen && "bg-hover",
        )}
      >
        <span className="min-w-0 truncate">{entry.label}</span>
        {entry.detail === undefined ? null : (
          <span className="ml-auto min-w-0 truncate text-faint text-table">{entry.detail}</span>
        )}
      </div>
    </>
  );
}

function stepOf(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return (at - 1 + count) % count;
  return null;
}

/** Opens the dialog and gives the focus back when it goes. */
function useModal(dialog: { readonly current: HTMLDialogElement | null }): void {
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const opener = document.activeElement;
    element.showModal();
    element.querySelector("input")?.focus();
    return () => {
      if (element.open) element.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, [dialog]);
}
