/**
 * ID-8, SIG-7: what customers wrote stays where it belongs. Markers planted in a body, a secret, response headers and
 * URLs are looked for in everything that a worker process prints and in every table of its database.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant, TEST_SECRET_KEYS } from "#tests/support/factories.ts";
import { formsOf, tablesWith } from "#tests/support/search-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 150_000;
const MARKERS = {
  body: "marker-in-the-body-5d1f",
  secret: "marker-in-the-secret-5d1f-32-byte",
  responseHeader: "marker-in-a-response-header-5d1f",
  responseBody: "marker-in-a-response-body-5d1f",
  url: "marker-in-a-url-5d1f",
} as const;
type Marker = keyof typeof MARKERS;

let database: TestDatabase;
let server: Server;
let output: string;
const QUICK = { backoff: { baseMs: 5, capMs: 5 }, retryAfter: { minMs: 5 }, requestDeadlineMs: 500 };

/** Each path one way to end; all of them with markers in every part of the answer. */
function answer(): Server {
  const seen = new Map<string, number>();
  return createServer((request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    const nth = (seen.get(path) ?? 0) + 1;
    seen.set(path, nth);
    const headers = {
      "x-marker": MARKERS.responseHeader,
      "set-cookie": `a=${MARKERS.responseHeader}`,
      etag: MARKERS.responseHeader,
    };
    request.resume().on("end", () => {
      if (path === "/hangup" && nth === 1) request.socket.destroy();
      else if (path === "/silent" && nth === 1) return;
      else if (path === "/redirect")
        response
          .writeHead(302, { ...headers, location: `/${MARKERS.responseHeader}` })
          .end(MARKERS.responseBody);
      else if (path === "/reject") response.writeHead(422, headers).end(MARKERS.responseBody);
      else if (path === "/limit" && nth === 1)
        response.writeHead(429, { ...headers, "retry-after": "1" }).end(MARKERS.responseBody);
      else if (path === "/broken" && nth === 1) response.writeHead(500, headers).end(MARKERS.responseBody);
      else response.writeHead(200, headers).end(MARKERS.responseBody);
    });
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  server = answer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const tenantId = await makeTenant(database.pool);
  const secret = `whsec_${Buffer.from(MARKERS.secret).toString("base64")}`;
  const add = async (url: string, options: { secret?: string; policyOverride?: unknown } = {}) => {
    const destinationId = await makeDestination(database.pool, tenantId, {
      url,
      secret,
      policyOverride: QUICK,
      ...options,
    });
    await makeDeliveries(database.pool, {
      tenantId,
      destinationId,
      count: 3,
      body: Buffer.from(`{"pan":"${MARKERS.body}"}`),
    });
  };
  for (const path of ["ok", "hangup", "silent", "redirect", "reject", "limit", "broken"])
    await add(`${origin}/${path}?token=${MARKERS.url}`);
  await add(`http://${MARKERS.url}.invalid/x`);
  await add(`http://user:${MARKERS.url}@127.0.0.1:${port}/x`);
  await add(`${origin}/bad-secret`, { secret: `whsec_${MARKERS.secret}` });
  await add(`${origin}/bad-policy`, { policyOverride: { maxFailures: 0 } });

  const worker = await spawnReadyWorker({
    urls: { us: database.connectionString },
    env: { SLUICE_LOG_LEVEL: "debug" },
  });
  await waitFor(
    async () => {
      const { delivered, dead } = await countDeliveries(database.pool);
      return delivered + dead === 33 && delivered >= 15;
    },
    { timeoutMs: LONG_MS },
  );
  await waitFor(
    async () => (await database.pool.query("SELECT 1 FROM sluice.queue_sample")).rows.length > 0,
    { timeoutMs: LONG_MS },
  );
  worker.kill("SIGTERM");
  await worker.exited;
  output = worker.output();
});
afterAll(async () => {
  await endWorkers();
  server.close();
  server.closeAllConnections();
  await database.drop();
});

function forms(marker: Marker): string[] {
  return formsOf(MARKERS[marker]);
}

describe("a worker process, at its most talkative", () => {
  it.each(Object.keys(MARKERS) as Marker[])("ID-8 SIG-7 prints nothing of: %s", (marker) => {
    expect(output).toContain('"event":"attempt"');
    for (const text of forms(marker)) expect(output).not.toContain(text);
  });

  it("prints nothing of the keys that seal secrets", () => {
    expect(output).not.toContain(TEST_SECRET_KEYS.slice(5, 25));
  });
});

describe("the database", () => {
  it("ID-8 holds a body in its one place only", async () => {
    expect(await tablesWith(database.pool, forms("body"))).toEqual(["sluice.payload"]);
  });

  it("holds no signing secret that can be read, anywhere", async () => {
    expect(await tablesWith(database.pool, forms("secret"))).toEqual([]);
  });

  it("holds no response header that nobody asked for", async () => {
    expect(await tablesWith(database.pool, forms("responseHeader"))).toEqual([]);
  });

  it("holds a response body only in the attempt's bounded column, and no URL but in the destination", async () => {
    expect(await tablesWith(database.pool, forms("responseBody"))).toEqual(["sluice.attempt"]);
    const { rows } = await database.pool.query<{ n: number }>(
      "SELECT count(*)::integer AS n FROM sluice.attempt a WHERE (to_jsonb(a) - 'response_body')::text ~ 'marker-in|6d61726b65722d696e'",
    );
    expect(rows[0]?.n).toBe(0);
    expect(await tablesWith(database.pool, forms("url"))).toEqual(["sluice.destination"]);
  });
});
