/** Promises of supervised processes, with real ones. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive } from "#scripts/lib/embedded-postgres.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { type ManagedChild, manageChild, restartPauseMs } from "./child.ts";
import { createChildOutput, shownText } from "./output.ts";
import { createSupervisor } from "./supervisor.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "sluice-child-"));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A child that runs `body`, then notes its process id: whoever reads the id knows that its listeners are there. */
function child(name: string, body: string, stopTimeoutMs = 10_000) {
  const script = path.join(directory, `${name}.mjs`);
  const pidFile = path.join(directory, `${name}.pid`);
  writeFileSync(
    script,
    `import { appendFileSync } from "node:fs"; ${body}
     appendFileSync(${JSON.stringify(pidFile)}, process.pid + "\\n");`,
  );
  const lines: string[] = [];
  const output = createChildOutput(name, directory, { showAll: false, write: (line) => lines.push(line) });
  const spec = { name, args: [script], env: { GIVEN: "yes" }, stopTimeoutMs };
  const managed: ManagedChild = manageChild(spec, output, (line) => lines.push(line));
  const pids = () => {
    try {
      return readFileSync(pidFile, "utf8").trim().split("\n").map(Number);
    } catch {
      return [];
    }
  };
  return { managed, lines, pids };
}

const STAY = "setInterval(() => {}, 1000);";

describe("a supervised process", () => {
  it("is started again when it dies, with a line that says so", async () => {
    const { managed, lines, pids } = child("restarted", STAY);
    managed.start();
    const [first] = await waitFor(() => (pids().length === 1 ? pids() : null), { what: "the first start" });
    managed.ready();
    process.kill(first ?? 0, "SIGKILL");
    await waitFor(() => pids().length === 2, { what: "the second start" });
    expect(lines).toContainEqual(
      expect.stringMatching(/^restarted ended \(signal SIGKILL\); starting it again/),
    );
    await managed.stop();
    expect(pids().some(isAlive)).toBe(false);
  });

  it("stops in its own way on SIGTERM, and is not started again", async () => {
    const body = `process.on("SIGTERM", () => { console.error("handing back"); process.exit(0); }); ${STAY}`;
    const { managed, lines, pids } = child("graceful", body);
    managed.start();
    await waitFor(() => pids().length === 1, { what: "the start" });
    managed.ready();
    await managed.stop();
    expect(pids().some(isAlive)).toBe(false);
    await waitFor(() => lines.some((line) => line.includes("handing back")), { what: "its last words" });
    expect(pids()).toHaveLength(1);
  });

  it("is killed with all that it started when it does not stop in time", async () => {
    const grandchild = `const { spawn } = await import("node:child_process");
      const inner = spawn(process.execPath, ["-e", ${JSON.stringify(`process.on("SIGTERM", () => {}); ${STAY}`)}]);
      process.on("SIGTERM", () => {}); appendFileSync(${JSON.stringify("PIDFILE")}, inner.pid + "\\n"); ${STAY}`;
    const file = path.join(directory, "stubborn.pid");
    const { managed, lines, pids } = child(
      "stubborn",
      grandchild.replace('"PIDFILE"', JSON.stringify(file)),
      300,
    );
    managed.start();
    await waitFor(() => pids().length === 2, { what: "both processes" });
    managed.ready();
    await managed.stop();
    await waitFor(() => !pids().some(isAlive), { what: "both to be gone" });
    expect(lines).toContainEqual(expect.stringMatching(/^stubborn did not stop within/));
  });

  it("is given up when it dies twice before it was ever ready, with its last words", async () => {
    const { managed } = child("hopeless", `console.error("no such tenant"); process.exit(3);`);
    managed.start();
    await expect(managed.failed).rejects.toThrow(/hopeless does not start \(exit code 3\): no such tenant/);
  });

  it("stops by itself when the supervisor is gone", async () => {
    const { pids } = child("orphan", STAY);
    const supervisor = path.join(directory, "supervisor.mjs");
    const [childModule, outputModule] = ["child.ts", "output.ts"].map((file) =>
      path.join(import.meta.dirname, file),
    );
    writeFileSync(
      supervisor,
      `import { manageChild } from ${JSON.stringify(childModule)};
       import { createChildOutput } from ${JSON.stringify(outputModule)};
       const output = createChildOutput("orphan", ${JSON.stringify(directory)}, { showAll: false, write() {} });
       const args = [${JSON.stringify(path.join(directory, "orphan.mjs"))}];
       manageChild({ name: "orphan", args, env: {}, stopTimeoutMs: 1000 }, output, () => {}).start();`,
    );
    const { spawn } = await import("node:child_process");
    const running = spawn(process.execPath, [supervisor], { stdio: "ignore" });
    await waitFor(() => pids().length === 1, { what: "the child" });
    running.kill("SIGKILL");
    await waitFor(() => !pids().some(isAlive), { what: "the child to notice" });
  });
});

describe("the supervisor", () => {
  it("stops in order: the later one is still alive when the earlier one has ended", async () => {
    const supervisor = createSupervisor(() => {});
    const late = child("late", STAY);
    const alive = `process.on("SIGTERM", () => { setTimeout(() => {
      try { process.kill(PID, 0); console.error("late is alive"); } catch { console.error("late is gone"); }
      process.exit(0); }, 50); }); ${STAY}`;
    late.managed.start();
    const [pid] = await waitFor(() => (late.pids().length === 1 ? late.pids() : null), {
      what: "the later one",
    });
    const early = child("early", alive.replace("PID", String(pid)));
    early.managed.start();
    await waitFor(() => early.pids().length === 1, { what: "the earlier one" });
    supervisor.add(late.managed, 2);
    supervisor.add(early.managed, 1);
    await Promise.all([supervisor.stop(), supervisor.stop()]);
    await waitFor(() => early.lines.length > 0, { what: "the earlier one's words" });
    expect(early.lines.join()).toContain("late is alive");
    expect([...late.pids(), ...early.pids()].some(isAlive)).toBe(false);
  });
});

describe("restartPauseMs", () => {
  it("grows to half a minute and stays there", () => {
    expect([1, 2, 3, 5, 6, 7, 1_000].map(restartPauseMs)).toEqual([
      1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });
});

describe("shownText", () => {
  it.each([
    ['{"level":30,"msg":"attempt"}', "stdout", null],
    ['{"level":40,"msg":"slow"}', "stdout", "slow"],
    ['{"level":50,"msg":"failed","err":{"message":"boom"}}', "stderr", "failed: boom"],
    ["ready", "stdout", null],
    ["Error: boom", "stderr", "Error: boom"],
    ["{ not json", "stderr", "{ not json"],
  ] as const)("of %s on %s", (line, source, shown) => expect(shownText(line, source)).toBe(shown));
});
