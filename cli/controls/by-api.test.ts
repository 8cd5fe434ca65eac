/**
 * The control verbs with a token: what they ask of the API, what they print, and how they end. The API is a real server that
 * notes the requests and answers what a test says; the real one is asked in e2e/cli-controls.spec.ts.
 */
import { existsSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { readApiSettingsIfAny } from "../api-config.ts";
import { ROOT } from "../config.ts";
import { main } from "../sluice.ts";
import { ROUTES } from "./by-api.ts";

const TOKEN = "sluice_not-to-be-shown";
const REASON = "the customer asked for it";
const CHANGE = ["--region", "us", "--reason", REASON];
const TEN = `ten_${"a".repeat(32)}`;
const DST = `dst_${"b".repeat(32)}`;
const DLV = `dlv_${"c".repeat(32)}`;
const AUD = `aud_${"d".repeat(32)}`;
const DONE = {
  auditId: AUD,
  version: 5,
  before: {},
  after: {},
  at: "2026-12-01T00:00:00.000Z",
  applied: true,
};
const PAUSE = { until: null, since: null, reason: null, by: null, resumedAt: null, resumeShare: null };
const TENANT = {
  id: TEN,
  slug: "acme",
  name: "Acme",
  version: 4,
  weight: 2,
  pause: PAUSE,
  concurrency: { limit: null, inForce: 100, inherited: 100 },
};

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly ifMatch: string | undefined;
  readonly key: string | undefined;
  readonly auth: string | undefined;
  readonly body: unknown;
}

/** A status and a body; "gone" ends the connection without an answer. */
type Said = readonly [number, object] | "gone";

let server: Server;
let consoleUrl: string;
const asked: Asked[] = [];
let say: (request: Asked) => Said;
const out: string[] = [];
const errors: string[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(String(request.url), "http://console");
    const one: Asked = {
      method: String(request.method),
      path: url.pathname.replace("/api/v1/", ""),
      query: Object.fromEntries(url.searchParams),
      ifMatch: request.headers["if-match"],
      key: request.headers["idempotency-key"] as string | undefined,
      auth: request.headers.authorization,
      body: text === "" ? null : JSON.parse(text),
    };
    asked.push(one);
    answer(response, say(one));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  consoleUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.spyOn(console, "log").mockImplementation((line) => out.push(String(line)));
  vi.spyOn(console, "error").mockImplementation((line) => errors.push(String(line)));
});
beforeEach(() => {
  for (const list of [asked, out, errors]) list.length = 0;
  say = standing({});
  vi.stubEnv("SLUICE_CONSOLE_URL", consoleUrl);
  vi.stubEnv("SLUICE_TOKEN", TOKEN);
  // Nothing may ever go there while there is a token.
  vi.stubEnv("DATABASE_URL_US", "postgres://nobody@127.0.0.1:1/none");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await new Promise((resolve) => server.close(resolve));
});

function answer(response: ServerResponse, said: Said): void {
  if (said === "gone") {
    response.destroy();
    return;
  }
  const [status, body] = said;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const data = (value: object): Said => [200, { region: "us", status: "ok", asOf: DONE.at, data: value }];

/** By method and path; a change that is not named is done. */
function standing(answers: Readonly<Record<string, Said>>): (request: Asked) => Said {
  const known: Readonly<Record<string, Said>> = {
    "GET tenants/acme": data({ tenant: { id: TEN } }),
    [`GET tenants/${TEN}/control`]: data(TENANT),
    "GET regions/us/control": data({ version: 9, claims: "on", defaults: {}, policy: {} }),
    ...answers,
  };
  return ({ method, path: target }) => {
    const fallback: Said =
      method === "POST" ? [200, DONE] : [404, { code: "not_found", detail: "no such row" }];
    return known[`${method} ${target}`] ?? fallback;
  };
}

async function sluice(...args: string[]): Promise<number> {
  return main(args);
}

const posts = () => asked.filter(({ method }) => method === "POST");

describe("with a token", () => {
  it("every command goes to a route that the API has", () => {
    for (const [name, { resource, verb }] of Object.entries(ROUTES)) {
      const file = path.join(ROOT, "app/api/v1", resource, "[id]", verb, "route.ts");
      expect(existsSync(file), `${name}: ${file}`).toBe(true);
    }
  });

  it("CTL-1 a pause is based on the version that was read, has a key of its own, and is printed as without a token", async () => {
    const until = "2026-12-01T01:00:00.000Z";
    say = standing({ [`POST tenants/${TEN}/pause`]: [200, { ...DONE, after: { pauseUntil: until } }] });
    expect(await sluice("pause", "tenant", "acme", "--for", "1h", "--ticket", "OPS-7", ...CHANGE)).toBe(0);
    expect(asked.map(({ method, path: target, query }) => [method, target, query])).toEqual([
      ["GET", "tenants/acme", { region: "us" }],
      ["GET", `tenants/${TEN}/control`, { region: "us" }],
      ["POST", `tenants/${TEN}/pause`, { region: "us" }],
    ]);
    expect(new Set(asked.map(({ auth }) => auth))).toEqual(new Set([`Bearer ${TOKEN}`]));
    expect(posts()[0]).toMatchObject({ ifMatch: '"4"', key: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(posts()[0]?.body).toEqual({ reason: REASON, ticket: "OPS-7", end: { forMs: 3_600_000 } });
    expect([out, errors]).toEqual([
      [`us: tenant acme is paused until ${until} (version 5, audit ${AUD})`],
      [],
    ]);
    await sluice("pause", "tenant", TEN, "--for", "1h", "--if-version", "2", "--json", ...CHANGE);
    expect(posts()[1]?.ifMatch).toBe('"2"');
    expect(JSON.parse(out[1] ?? "")).toEqual({ region: "us", ...DONE, after: { pauseUntil: until } });
  });

  it("one delivery is retried or cancelled without a version, under both of its names; a dead letter has one", async () => {
    say = standing({ [`GET deliveries/${DLV}/control`]: data({ version: 3, payload: { id: "pay" } }) });
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(0);
    expect(await sluice("delivery", "retry", DLV, ...CHANGE)).toBe(0);
    expect(await sluice("delivery", "cancel", DLV, ...CHANGE)).toBe(0);
    expect(await sluice("delivery", "will-not-replay", DLV, ...CHANGE)).toBe(0);
    expect(posts().map(({ path: target, ifMatch, body }) => [target, ifMatch, body])).toEqual([
      [`deliveries/${DLV}/retry-now`, undefined, { reason: REASON }],
      [`deliveries/${DLV}/retry-now`, undefined, { reason: REASON }],
      [`deliveries/${DLV}/cancel`, undefined, { reason: REASON }],
      [`deliveries/${DLV}/will-not-replay`, '"3"', { reason: REASON }],
    ]);
    for (const args of [["delivery"], ["delivery", "purge", DLV], ["delivery", "retry"]])
      expect(await sluice(...args, ...CHANGE)).toBe(2);
    expect(posts()).toHaveLength(4);
  });

  it("stopping claims sends the region's name as typed; a drain that stands is only looked at", async () => {
    const status = { region: "us", claims: "stopped", leases: 0, workers: 1, drained: true, asOf: DONE.at };
    say = standing({ "GET regions/us/drain": [200, status] });
    expect(await sluice("drain", ...CHANGE)).toBe(0);
    expect(posts()).toMatchObject([
      { path: "regions/us/stop-claims", ifMatch: '"9"', body: { typed: "us", reason: REASON } },
    ]);
    expect(out.at(-1)).toMatch(/^us: drained: no lease is left/);
    expect(await sluice("drain", "--region", "us", "--status", "--json")).toBe(0);
    expect(JSON.parse(out.at(-1) ?? "")).toEqual(status);
    expect(posts()).toHaveLength(1);
  });

  it("a destination is found by its whole name, over pages; of two of that name none is taken", async () => {
    const row = (name: string, id = DST) => ({ id, name });
    const page = (rows: object[], next: string | null) => data({ rows, next });
    const other = `dst_${"e".repeat(32)}`;
    say = (request) => {
      if (request.path !== "destinations") return standing({})(request);
      if (request.query.q === "Twice") return page([row("Twice"), row("Twice", other)], null);
      return request.query.cursor === "next"
        ? page([row("Ledger")], null)
        : page([row("A Ledger", other)], "next");
    };
    // What it would do next is another test's: this one has no such row.
    expect(await sluice("destination", "disable", "acme/Ledger", ...CHANGE)).toBe(1);
    expect(asked.at(-1)?.path).toBe(`destinations/${DST}/control`);
    expect(asked[0]?.query).toMatchObject({ region: "us", tenant: "acme", q: "Ledger", sort: "name" });
    expect(await sluice("destination", "disable", "acme/Twice", ...CHANGE)).toBe(1);
    expect(await sluice("destination", "disable", "acme/Ledge", ...CHANGE)).toBe(1);
    expect(errors).toEqual([
      'sluice: no destination "acme/Ledger" in this region',
      "sluice: two destinations have this name: use the dst_ id",
      'sluice: no destination "acme/Ledge" in this region',
    ]);
    expect(posts()).toEqual([]);
  });

  it("shows the fields that the database's way shows", async () => {
    expect(await sluice("limits", "tenant", "acme", "--region", "us", "--json")).toBe(0);
    expect(Object.entries(JSON.parse(out[0] ?? ""))).toEqual(
      Object.entries({
        region: "us",
        name: "Acme",
        version: 4,
        pausedUntil: null,
        pauseReason: null,
        pausedBy: null,
        resumedAt: null,
        resumeShare: null,
        concurrencyLimit: null,
        concurrencyInForce: 100,
        id: TEN,
        slug: "acme",
        weight: 2,
      }),
    );
  });
});

describe("what does not go well", () => {
  it("FAIR-7 nonsense is refused before it is sent: JSON would make null of it, which clears a limit", async () => {
    for (const value of ["many", "0"])
      expect(await sluice("limits", "tenant", TEN, "--concurrency", value, ...CHANGE)).toBe(1);
    expect(errors).toEqual([expect.stringMatching(/use pause$/), expect.stringMatching(/use pause$/)]);
    expect(await sluice("limits", "tenant", TEN, "--concurrency", "9", "--any-step", ...CHANGE)).toBe(2);
    expect(errors.at(-1)).toContain("leave SLUICE_TOKEN out");
    expect(posts()).toEqual([]);
  });

  it("an answer that was lost is asked for again with the same key", async () => {
    const lost: Said[] = ["gone", [503, { code: "region_unavailable", detail: "not known" }]];
    say = (request) => (request.method === "POST" && lost.shift()) || standing({})(request);
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(1);
    expect(errors).toEqual(["sluice: not known"]);
    lost.push("gone");
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(0);
    const [first, second, third, fourth] = posts();
    expect([second, fourth]).toEqual([first, third]);
    expect(third?.key).not.toBe(first?.key);
  });

  it("CTL-1 what the API does not call applied is never printed as done", async () => {
    say = standing({ [`POST deliveries/${DLV}/cancel`]: [200, { ...DONE, applied: false }] });
    expect(await sluice("cancel", DLV, ...CHANGE)).toBe(1);
    expect(errors.at(-1)).toContain("nothing is proven yet");
    out.length = 0;
    say = standing({ [`POST deliveries/${DLV}/cancel`]: [200, { hello: "there" }] });
    expect(await sluice("cancel", DLV, ...CHANGE)).toBe(1);
    expect(errors.at(-1)).toContain("it is not known whether the change was made");
    expect(out).toEqual([]);
  });

  it("a refusal is the API's own words in one line, and is not asked for again", async () => {
    const stale = `${TEN} was changed by someone else: version 4 was seen, it is 5 now`;
    say = standing({ [`POST tenants/${TEN}/resume`]: [412, { code: "version_conflict", detail: stale }] });
    expect(await sluice("resume", "tenant", TEN, ...CHANGE)).toBe(1);
    say = standing({
      [`POST tenants/${TEN}/resume`]: [403, { code: "forbidden", detail: "Needs the role x." }],
    });
    expect(await sluice("resume", "tenant", TEN, ...CHANGE)).toBe(1);
    expect(await sluice("resume", "tenant", "nobody", ...CHANGE)).toBe(1);
    const unread = { region: "us", status: "unavailable", detail: "No answer within 4 s." };
    say = standing({ [`GET tenants/${TEN}/control`]: [200, unread] });
    expect(await sluice("resume", "tenant", TEN, ...CHANGE)).toBe(1);
    expect(errors).toEqual([
      `sluice: ${stale}`,
      "sluice: Needs the role x.",
      'sluice: no tenant "nobody" in this region',
      "sluice: region us does not answer the console: No answer within 4 s",
    ]);
    expect(posts()).toHaveLength(2);
    expect(out).toEqual([]);
  });

  it("a console that is down is said, with the other way, which is never taken by itself; no message holds the token", async () => {
    const down = `http://127.0.0.1:${await findFreePort()}`;
    vi.stubEnv("SLUICE_CONSOLE_URL", down);
    expect(await sluice("pause", "tenant", "acme", "--for", "1h", ...CHANGE)).toBe(1);
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(1);
    expect(errors).toEqual([
      `sluice: the console at ${down} does not answer (ECONNREFUSED); without SLUICE_TOKEN the command goes to the region's database`,
      `sluice: the console at ${down} does not answer (ECONNREFUSED); nothing was changed`,
    ]);
    vi.stubEnv("SLUICE_TOKEN", `${TOKEN}\nX-Other: header`);
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(1);
    vi.stubEnv("SLUICE_TOKEN", "");
    expect(await sluice("retry-now", DLV, ...CHANGE)).toBe(1);
    expect(errors.slice(2)).toEqual([
      "sluice: SLUICE_TOKEN is no service token",
      expect.stringContaining("the database of region us does not answer"),
    ]);
    expect(errors.join()).not.toContain(TOKEN);
  });
});

it("an empty token is none; an address with a password is refused", () => {
  expect(readApiSettingsIfAny({})).toBeNull();
  expect(readApiSettingsIfAny({ SLUICE_TOKEN: "" })).toBeNull();
  expect(
    readApiSettingsIfAny({ SLUICE_TOKEN: TOKEN, SLUICE_CONSOLE_URL: "https://c.example/" }),
  ).toMatchObject({
    url: "https://c.example",
    token: TOKEN,
  });
  for (const url of ["https://ann:hunter2@c.example", "file:///etc/passwd", "here"])
    expect(() => readApiSettingsIfAny({ SLUICE_TOKEN: TOKEN, SLUICE_CONSOLE_URL: url })).toThrow(
      /no http address/,
    );
});
