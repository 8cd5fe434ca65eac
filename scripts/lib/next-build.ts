/**
 * Builds the console when its sources changed since the last build of the same folder. The mark is written after the
 * build has succeeded, so an interrupted one is done again.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface BuildOptions {
  root: string;
  /** Relative to the root; `.next` serves `npm start`, tests have their own. */
  distDir: string;
  signal?: AbortSignal;
}

export interface BuildResult {
  /** False when the last build still fits. */
  built: boolean;
}

/** What the built console is made of. */
const SOURCES = [
  "app",
  "components",
  "db",
  "domain",
  "outbox",
  "public",
  "prisma/schema.prisma",
  "next.config.ts",
  "proxy.ts",
  "postcss.config.mjs",
  "package-lock.json",
  "tsconfig.json",
] as const;

const IGNORED = /\.test\.tsx?$|(^|\/)\.|tsbuildinfo$/;
const OUTPUT_KEPT_CHARS = 20_000;
const MARK = ".sluice-build";

/** A hash over names and contents of everything that the build reads. */
export function sourceHash(root: string): string {
  const hash = createHash("sha256");
  for (const source of SOURCES) addToHash(hash, root, source);
  return hash.digest("hex");
}

/**
 * Runs `next build` unless the mark of the folder fits the sources.
 * @throws Error whose message is the last part of the build's output.
 */
export async function ensureBuilt(options: BuildOptions): Promise<BuildResult> {
  const { root, distDir } = options;
  const mark = path.join(root, distDir, MARK);
  const wanted = sourceHash(root);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return { built: false };
  rmSync(mark, { force: true });
  await runBuild(options);
  writeFileSync(mark, wanted);
  return { built: true };
}

function runBuild({ root, distDir, signal }: BuildOptions): Promise<void> {
  const script = path.join(root, "node_modules", "next", "dist", "bin", "next");
  return new Promise((resolve, reject) => {
    let output = "";
    const child = spawn(process.execPath, [script, "build"], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
        SLUICE_NEXT_DIST: distDir,
      },
      ...(signal ? { signal, killSignal: "SIGTERM" as const } : {}),
    });
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT_CHARS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(output.trim() || `exit code ${code}`)),
    );
  });
}

function addToHash(hash: ReturnType<typeof createHash>, root: string, relative: string): void {
  const full = path.join(root, relative);
  if (!existsSync(full) || IGNORED.test(relative)) return;
  const entries = readdirEntries(full);
  if (entries === null) {
    hash.update(relative).update("\0").update(readFileSync(full)).update("\0");
    return;
  }
  for (const name of entries.sort()) addToHash(hash, root, `${relative}/${name}`);
}

/** The names in a directory, or null for a file. */
function readdirEntries(full: string): string[] | null {
  try {
    return readdirSync(full);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw error;
  }
}
