/** Keys do what the help says, nothing with a modifier, and nothing that changes a row. */
import { expect, test } from "vitest";
import { type KeyPress, PENDING_MS, readKey, SHORTCUT_GROUPS } from "./shortcut-map.ts";

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, ctrlKey: false, metaKey: false, altKey: false, ...modifiers };
}

test("g waits a moment for the place to go to, and no longer", () => {
  const { command, pending } = readKey(press("g"), null, 1_000);
  expect([command, pending]).toEqual([null, 1_000]);
  expect(readKey(press("e"), pending, 1_000 + PENDING_MS).command).toEqual({
    kind: "go",
    href: "/destinations",
  });
  expect(readKey(press("t"), pending, 1_001 + PENDING_MS).command).toEqual({ kind: "theme" });
  expect(readKey(press("z"), pending, 1_001)).toEqual({ command: null, pending: null });
});

test("with a modifier no key means anything", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"] as const) {
    expect(readKey(press("p", { [modifier]: true }), null, 0).command).toBeNull();
    expect(readKey(press("o", { [modifier]: true }), 0, 1).command).toBeNull();
  }
});

test("names that every object has are no keys", () => {
  expect(readKey(press("constructor"), null, 0).command).toBeNull();
  expect(readKey(press("toString"), 0, 1).command).toBeNull();
});

test("every key of the help does something, and the help names every key", () => {
  const shown = SHORTCUT_GROUPS.flatMap(({ keys }) => keys.flatMap((entry) => entry.keys));
  const single = shown.filter((text) => !/Ctrl|⌘|Enter/.test(text));
  for (const text of single) {
    const [first = "", second] = text.replace("Shift x", "X").replace("Esc", "Escape").split(" ");
    const start = readKey(press(first), null, 0);
    const command = second === undefined ? start.command : readKey(press(second), start.pending, 1).command;
    expect(command, text).not.toBeNull();
  }
  const kinds = [..."?/jkxX[]rRput", "Escape"].map((key) => readKey(press(key), null, 0).command?.kind);
  expect(new Set(kinds)).not.toContain(undefined);
});

test("no key runs a mutation: what is reachable is looking, moving and choosing", () => {
  const reachable = new Set<string>();
  for (let code = 32; code < 127; code += 1) {
    const { command } = readKey(press(String.fromCharCode(code)), null, 0);
    if (command !== null) reachable.add(command.kind);
  }
  expect([...reachable].sort()).toEqual([
    "copy-link",
    "filter",
    "help",
    "next-page",
    "next-row",
    "previous-page",
    "previous-row",
    "reload",
    "select",
    "select-range",
    "theme",
    "toggle-live",
  ]);
});
