/**
 * Which key means what. Pure: the event and the time are passed in. No key here may change anything on the server: a slip
 * must never pause a customer.
 */

export type Command =
  | { kind: "go"; href: string }
  | { kind: "help" | "filter" | "next-row" | "previous-row" | "select" | "select-range" | "escape" }
  | { kind: "previous-page" | "next-page" | "reload" | "toggle-live" | "copy-link" | "theme" };

/** The part of a keyboard event that decides. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** A `g` that waits for its second key, since when. */
export type Pending = number | null;

/** How long a `g` waits. */
export const PENDING_MS = 1_500;

const PLACES: Readonly<Record<string, string>> = {
  o: "/",
  t: "/tenants",
  e: "/destinations",
  d: "/deliveries",
  l: "/dead-letters",
  r: "/replays",
  a: "/audit",
};

const KEYS: Readonly<Record<string, Exclude<Command["kind"], "go">>> = {
  "?": "help",
  "/": "filter",
  j: "next-row",
  k: "previous-row",
  x: "select",
  X: "select-range",
  Escape: "escape",
  "[": "previous-page",
  "]": "next-page",
  r: "reload",
  R: "reload",
  p: "toggle-live",
  u: "copy-link",
  t: "theme",
};

/** What a key press means after what was pressed before it. */
export function readKey(
  press: KeyPress,
  pending: Pending,
  nowMs: number,
): { command: Command | null; pending: Pending } {
  if (press.ctrlKey || press.metaKey || press.altKey) return { command: null, pending: null };
  if (pending !== null && nowMs - pending <= PENDING_MS) {
    const href = Object.hasOwn(PLACES, press.key) ? PLACES[press.key] : undefined;
    return { command: href === undefined ? null : { kind: "go", href }, pending: null };
  }
  if (press.key === "g") return { command: null, pending: nowMs };
  const kind = Object.hasOwn(KEYS, press.key) ? KEYS[press.key] : undefined;
  return { command: kind === undefined ? null : { kind }, pending: null };
}

/** The list of the help dialog, in the order in which it shows it. */
export const SHORTCUT_GROUPS: readonly {
  title: string;
  keys: readonly { keys: readonly string[]; does: string }[];
}[] = [
  {
    title: "Everywhere",
    keys: [
      { keys: ["Ctrl K", "⌘ K"], does: "Find a page, tenant, destination, delivery or action" },
      { keys: ["?"], does: "This help" },
      { keys: ["p"], does: "Pause or resume live updates" },
      { keys: ["u"], does: "Copy a link to what you see" },
      { keys: ["t"], does: "Change the theme" },
      { keys: ["Esc"], does: "Close a panel, then clear the selection" },
    ],
  },
  {
    title: "Go to",
    keys: [
      { keys: ["g o"], does: "Overview" },
      { keys: ["g t"], does: "Tenants" },
      { keys: ["g e"], does: "Destinations" },
      { keys: ["g d"], does: "Deliveries" },
      { keys: ["g l"], does: "Dead letters" },
      { keys: ["g r"], does: "Replays" },
      { keys: ["g a"], does: "Audit" },
    ],
  },
  {
    title: "In a list",
    keys: [
      { keys: ["/"], does: "Go to the filter" },
      { keys: ["j", "k"], does: "Next or previous row" },
      { keys: ["Enter"], does: "Open the row" },
      { keys: ["x"], does: "Select the row" },
      { keys: ["Shift x"], does: "Select from the last one to this row" },
      { keys: ["[", "]"], does: "Previous or next page" },
      { keys: ["R"], does: "Show new rows" },
    ],
  },
];
