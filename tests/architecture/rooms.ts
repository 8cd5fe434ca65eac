/** Which room may import what. The table is docs/architecture.md's; the code below it only reads the table. */
import { type Finding, importsOf, type SourceFile } from "./tree.ts";

interface Room {
  /** Rooms, folders or single files (without ending) of this clone. The room itself is always allowed. */
  may: readonly string[];
  /** Parts of an allowed room that are not allowed after all. */
  mayNot?: readonly string[];
  /** Allowed for types only. */
  typesOnly?: readonly string[];
  /** Packages and built-in modules; absent means any. */
  packages?: readonly string[];
}

export const ROOMS: Readonly<Record<string, Room>> = {
  domain: { may: [], packages: ["zod", "node:crypto", "ipaddr.js"] },
  outbox: { may: ["domain"], packages: ["pg", "node:crypto", "node:util"] },
  db: { may: ["domain"] },
  worker: { may: ["domain", "db"], mayNot: ["db/console"] },
  components: { may: ["domain"], typesOnly: ["db/console"] },
  app: { may: ["components", "domain", "outbox", "db/console", "db/prisma", "db/regions"] },
  demo: {
    may: [
      "domain",
      "outbox",
      "db/prisma",
      "db/regions",
      "db/pool",
      "db/config",
      "db/secrets",
      "db/secrets-config",
    ],
  },
  cli: { may: ["prisma", "db", "worker", "demo", "domain", "outbox", "scripts"] },
  prisma: { may: ["db", "domain", "outbox", "demo"] },
  scripts: { may: ["db", "prisma", "domain"] },
  bench: {
    may: ["cli", "components", "db", "demo", "domain", "outbox", "prisma", "scripts", "tests", "worker"],
  },
  chaos: {
    may: ["cli", "components", "db", "demo", "domain", "outbox", "prisma", "scripts", "tests", "worker"],
  },
  e2e: {
    may: ["cli", "components", "db", "demo", "domain", "outbox", "prisma", "scripts", "tests", "worker"],
  },
  sim: {
    may: ["bench", "cli", "db", "demo", "domain", "e2e", "outbox", "prisma", "scripts", "tests", "worker"],
  },
  tests: { may: ["cli", "components", "db", "demo", "domain", "outbox", "prisma", "scripts", "worker"] },
};

/** Folders inside a room with one more permission than the room has. */
const EXTRA: Readonly<Record<string, readonly string[]>> = { "app/demo": ["demo"] };

/** A test sets its room up with the other rooms' real parts; the console stays out of reach for it too. */
const TESTS_MAY = ["db", "demo", "domain", "outbox", "prisma", "scripts", "tests"];

/** Files beside the rooms: the tools' configuration, and proxy.ts, which answers in the words of the API. */
const ROOT_MAY = ["scripts", "e2e/config", "domain/problem"];

const TEST_FILE = /\.(test|spec)\.tsx?$/;

/** Checks the imports of every file against the table. */
export function checkRooms(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const room = roomOf(file.path);
    if (room !== null && !ROOMS[room]) {
      return [
        {
          path: file.path,
          line: 1,
          message: `"${room}" is not a room: put it into the table or move the file`,
        },
      ];
    }
    return importsOf(file).flatMap((reference) => {
      const reason = reference.isOwn
        ? refuseOwn(file.path, room, reference)
        : refusePackage(file.path, room, reference.target);
      return reason === null ? [] : [{ path: file.path, line: reference.line, message: reason }];
    });
  });
}

function refuseOwn(
  path: string,
  room: string | null,
  { target, typeOnly, specifier }: { target: string; typeOnly: boolean; specifier: string },
): string | null {
  const targetRoom = roomOf(target);
  if (room !== null && targetRoom !== room && !specifier.startsWith("#")) {
    return `${specifier} leaves the room: import it as #${target}`;
  }
  if (targetRoom === room) return null;
  if (isAllowed(path, room, target, typeOnly)) return null;
  return `${room ?? "a root file"} may not import ${target}`;
}

function isAllowed(path: string, room: string | null, target: string, typeOnly: boolean): boolean {
  if (room === null) return ROOT_MAY.some((allowed) => lies(target, allowed));
  const rules = ROOMS[room];
  if (!rules) return false;
  const allowed = [...rules.may];
  for (const [folder, extra] of Object.entries(EXTRA)) if (lies(path, folder)) allowed.push(...extra);
  if (typeOnly) allowed.push(...(rules.typesOnly ?? []));
  if (TEST_FILE.test(path)) return [...allowed, ...TESTS_MAY].some((each) => lies(target, each));
  if (rules.mayNot?.some((forbidden) => lies(target, forbidden))) return false;
  return allowed.some((each) => lies(target, each));
}

function refusePackage(path: string, room: string | null, name: string): string | null {
  const packages = room === null ? undefined : ROOMS[room]?.packages;
  if (packages === undefined || TEST_FILE.test(path)) return null;
  return packages.includes(name) ? null : `${room} may not import the package ${name}`;
}

/** True when `target` is the given file (with any ending) or lies below the given folder. */
function lies(target: string, place: string): boolean {
  return (
    target === place || target.startsWith(`${place}/`) || target.replace(/\.[cm]?[jt]sx?$/, "") === place
  );
}

/** The first folder of a path, or null for a file at the root. */
export function roomOf(path: string): string | null {
  return path.includes("/") ? (path.split("/", 1)[0] ?? null) : null;
}
