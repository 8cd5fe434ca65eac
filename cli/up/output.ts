/**
 * What the children say: everything goes to a bounded log file per child. The terminal shows only what somebody may
 * have to act on (log records of level warn and above, and plain lines on stderr), with the child's name in front.
 */
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";

export interface ChildOutput {
  /** Reads a stream to its end, line by line. Plain lines of `stderr` reach the terminal, those of `stdout` do not. */
  attach(stream: Readable, source: "stdout" | "stderr"): void;
  /** The last lines, for a message about a failure. */
  lastLines(): string[];
}

const LOG_MAX_BYTES = 20 * 1024 * 1024;
const LINE_MAX_CHARS = 4_000;
const SHOWN_MAX_CHARS = 400;
const KEPT_LINES = 5;
const WARN_LEVEL = 40;
const NAME_WIDTH = 10;

/** Routes one child's output. `showAll` puts every line on the terminal. */
export function createChildOutput(
  name: string,
  logDir: string,
  options: { showAll: boolean; write: (line: string) => void },
): ChildOutput {
  mkdirSync(logDir, { recursive: true });
  const file = path.join(logDir, `${name.replaceAll(" ", "-")}.log`);
  const last: string[] = [];
  const onLines = (lines: string[], source: "stdout" | "stderr") => {
    const written = lines.filter((line) => line.trim() !== "");
    if (written.length === 0) return;
    appendBounded(file, written);
    last.push(...written.map((line) => line.slice(0, SHOWN_MAX_CHARS)));
    last.splice(0, last.length - KEPT_LINES);
    for (const line of written) {
      const shown = options.showAll ? line : shownText(line, source);
      if (shown !== null) options.write(`${name.padEnd(NAME_WIDTH)} | ${shown.slice(0, SHOWN_MAX_CHARS)}`);
    }
  };
  return {
    attach: (stream, source) => splitLines(stream, (lines) => onLines(lines, source)),
    lastLines: () => [...last],
  };
}

/** What the terminal shows of a line, or null for one that only the log file gets. */
export function shownText(line: string, source: "stdout" | "stderr"): string | null {
  const plain = source === "stderr" ? line : null;
  if (!line.startsWith("{")) return plain;
  try {
    const record: { level?: unknown; msg?: unknown; err?: { message?: unknown } } = JSON.parse(line);
    if (typeof record.level !== "number") return plain;
    if (record.level < WARN_LEVEL) return null;
    const reason = typeof record.err?.message === "string" ? `: ${record.err.message}` : "";
    return `${String(record.msg ?? "")}${reason}`;
  } catch {
    return plain;
  }
}

function splitLines(stream: Readable, onLines: (lines: string[]) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n").map((line) => line.slice(0, LINE_MAX_CHARS));
    rest = lines.pop() ?? "";
    onLines(lines);
  });
  stream.on("end", () => onLines([rest]));
  stream.on("error", () => {});
}

/** Two files at most: the present one and the one before. */
function appendBounded(file: string, lines: string[]): void {
  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) renameSync(file, `${file}.1`);
    appendFileSync(file, `${lines.join("\n")}\n`);
  } catch {
    // A full disk must not stop the system that it is logging; the terminal still shows what matters.
  }
}
