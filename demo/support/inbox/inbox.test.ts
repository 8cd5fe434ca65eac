/** RECV-1..3 over real HTTP: what the reference endpoint refuses and with which answer, and what it takes. */
import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { toPublicId } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING, TEST_SIGNING_SECRET } from "#tests/support/factories.ts";
import {
  followUpBody,
  indexBody,
  type SignedRequestOptions,
  signedRequest,
} from "#tests/support/inbox-request.ts";
import { clearInbox, readInboxRows } from "#tests/support/inbox-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { createEndpointBook } from "./endpoints.ts";
import { createInbox, type InboxSettings } from "./inbox.ts";
import { createLimiter } from "./limiter.ts";
import { type ServedInbox, serveInbox } from "./serve.ts";

const PREVIOUS_SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const FOREIGN_SECRET = `whsec_${Buffer.alloc(32, 4).toString("base64")}`;

let database: TestDatabase;
let tenantId: string;
let destinationId: string;
let served: ServedInbox[] = [];
let errors: unknown[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  tenantId = await makeTenant(database.pool);
  destinationId = await makeDestination(database.pool, tenantId, { previousSecret: PREVIOUS_SECRET });
});
afterAll(async () => {
  await Promise.all(served.map((each) => each.close()));
  await database.drop();
});
beforeEach(async () => {
  await Promise.all(served.map((each) => each.close()));
  served = [];
  errors = [];
  await clearInbox(database.pool);
});

async function serve(more: Partial<InboxSettings> = {}): Promise<ServedInbox> {
  const poolOf = more.poolOf ?? (() => database.pool);
  const inbox = createInbox({
    endpoints: createEndpointBook(poolOf, TEST_KEYRING, () => performance.now()),
    poolOf,
    limiter: createLimiter({ ratePerSecond: 1_000, burst: 1_000 }),
    nowMs: () => Date.now(),
    onError: (error) => errors.push(error),
    ...more,
  });
  const one = await serveInbox(inbox);
  served.push(one);
  return one;
}

const urlOf = ({ url }: ServedInbox, id = destinationId) => `${url}/demo/support/us/${toPublicId("dst", id)}`;

function signed(options: Partial<SignedRequestOptions> = {}) {
  const base = {
    region: "us" as const,
    tenantId,
    secret: TEST_SIGNING_SECRET,
    body: followUpBody(randomUUID()),
  };
  return signedRequest({ ...base, ...options });
}

interface Problem {
  status: number;
  code: string;
  title: string;
  type: string;
}

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  expect(problem.type).toBe(`urn:sluice:error:${problem.code}`);
  return problem;
}

async function refusalOf(options: Partial<SignedRequestOptions>): Promise<string> {
  const response = await fetch(urlOf(await serve()), signed(options));
  const { code, status } = await problemOf(response);
  expect((await readInboxRows(database.pool)).keys).toBe(0);
  return `${status} ${code}`;
}

describe("a request that is in order", () => {
  it("RECV-1 is applied once, acknowledged with 204, and answered with its result when it comes again", async () => {
    const inbox = await serve();
    const request = signed();
    const first = await fetch(urlOf(inbox), request);
    expect([first.status, first.headers.get("inbox-result"), first.headers.get("inbox-repeated")]).toEqual([
      204,
      "applied",
      "false",
    ]);
    expect(await first.text()).toBe("");
    for (let n = 0; n < 3; n += 1) {
      const again = await fetch(urlOf(inbox), request);
      expect([again.status, again.headers.get("inbox-result"), again.headers.get("inbox-repeated")]).toEqual([
        204,
        "applied",
        "true",
      ]);
    }
    expect(await readInboxRows(database.pool)).toMatchObject({
      keys: 1,
      unfinished: 0,
      followUps: 1,
      doubled: 0,
    });
  });

  it("a later attempt with a fresh time and signature is the same delivery", async () => {
    const inbox = await serve();
    const same = { webhookId: "dlv_1", key: "key-1", body: followUpBody(randomUUID()) };
    const now = Date.now();
    for (const agoMs of [120_000, 60_000, 0]) {
      const response = await fetch(urlOf(inbox), signed({ ...same, at: new Date(now - agoMs) }));
      expect(response.status).toBe(204);
    }
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 1, followUps: 1 });
  });

  it("a type that is not known is acknowledged and ignored: older endpoints must not fail newer senders", async () => {
    const response = await fetch(urlOf(await serve()), signed({ body: '{"type":"ticket.merged","x":1}' }));
    expect([response.status, response.headers.get("inbox-result")]).toEqual([204, "ignored"]);
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 1, followUps: 0, documents: 0 });
  });

  it("ID-12 an older version that comes after a newer one changes nothing and is a success", async () => {
    const inbox = await serve();
    const ticket = randomUUID();
    const results: (string | null)[] = [];
    for (const version of [2, 1, 3]) {
      const response = await fetch(urlOf(inbox), signed({ body: indexBody(ticket, version) }));
      results.push(response.headers.get("inbox-result"));
    }
    expect(results).toEqual(["applied", "superseded", "applied"]);
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 3, documents: 1, writes: 2 });
    const { rows } = await database.pool.query("SELECT version, subject FROM sluice.demo_inbound_document");
    expect(rows).toEqual([{ version: 3, subject: "version 3" }]);
  });
});

describe("RECV-2 refusals", () => {
  it("405 with Allow for every other method", async () => {
    const url = urlOf(await serve());
    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { headers } = signed();
      const response = await fetch(url, { method, headers });
      expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, "POST"]);
      if (method !== "HEAD") expect((await problemOf(response)).code).toBe("method_not_allowed");
    }
  });

  it("401 without a signature or its time, and nothing is looked up for it", async () => {
    const lost = createPool({
      connectionString: "postgresql://nobody@127.0.0.1:1/none",
      max: 1,
      applicationName: "sluice-test",
    });
    const url = urlOf(await serve({ poolOf: () => lost }));
    for (const missing of ["webhook-signature", "webhook-timestamp"]) {
      const response = await fetch(url, signed({ headers: { [missing]: null } }));
      expect(response.headers.get("www-authenticate")).toContain("StandardWebhooks");
      expect(await problemOf(response)).toMatchObject({ status: 401, code: "unauthenticated" });
    }
    expect((await fetch(url, { method: "POST" })).status).toBe(401);
    await lost.end();
  });

  it.each([
    ["another secret", { secret: FOREIGN_SECRET }, "401 bad_signature"],
    ["another id than was signed", { headers: { "webhook-id": "dlv_other" } }, "401 bad_signature"],
    ["a signature that is none", { headers: { "webhook-signature": "v1,AAAA" } }, "401 bad_signature"],
    [
      "a version of signatures that is not known",
      { headers: { "webhook-signature": "v2,AAAA" } },
      "401 bad_signature",
    ],
    ["a time that is no number", { headers: { "webhook-timestamp": "soon" } }, "401 bad_signature"],
    ["a signature of 6 minutes ago", { at: new Date(Date.now() - 360_000) }, "401 stale_timestamp"],
    ["a signature of in 6 minutes", { at: new Date(Date.now() + 360_000) }, "401 stale_timestamp"],
    ["no id", { headers: { "webhook-id": null } }, "422 bad_envelope"],
    ["no key", { headers: { "idempotency-key": null } }, "422 bad_envelope"],
    ["a key with a space", { headers: { "idempotency-key": "a b" } }, "422 bad_envelope"],
    ["no tenant", { headers: { "sluice-tenant": null } }, "422 bad_envelope"],
    ["a tenant that is no id", { headers: { "sluice-tenant": "acme" } }, "422 bad_envelope"],
    ["another tenant", { tenantId: "00000000-0000-4000-8000-000000000000" }, "422 bad_envelope"],
    ["no region", { headers: { "sluice-region": null } }, "422 bad_region"],
    ["a region that does not exist", { headers: { "sluice-region": "mars" } }, "422 bad_region"],
    ["another region", { headers: { "sluice-region": "eu" } }, "422 wrong_region"],
    ["a body that is not JSON", { body: '{"type":' }, "400 bad_json"],
    ["an empty body", { body: "" }, "400 bad_json"],
    ["a body without a type", { body: "[1]" }, "422 invalid_body"],
    ["a known type without its fields", { body: '{"type":"ticket.index_wanted"}' }, "422 invalid_body"],
  ] satisfies [string, Partial<SignedRequestOptions>, string][])("%s", async (_what, options, expected) => {
    expect(await refusalOf(options)).toBe(expected);
  });

  it("401 for a body of which one byte is another, whatever it says", async () => {
    const { headers, body } = signed();
    const response = await fetch(urlOf(await serve()), { method: "POST", headers, body: `${body} ` });
    expect(response.status).toBe(401);
  });

  it("400 for bytes that are not UTF-8, signed as they are", async () => {
    const body = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    const { headers } = signed({ webhookId: "dlv_raw" });
    // The public package signs text only, so these bytes are signed by hand.
    const signature = createHmac("sha256", Buffer.alloc(32, 9))
      .update(`dlv_raw.${headers["webhook-timestamp"]}.`)
      .update(body)
      .digest("base64");
    const response = await fetch(urlOf(await serve()), {
      method: "POST",
      headers: { ...headers, "webhook-signature": `v1,${signature}` },
      body,
    });
    expect(await problemOf(response)).toMatchObject({ status: 400, code: "bad_json" });
  });

  it("404 for an endpoint that does not exist, in either part of its address", async () => {
    const { url } = await serve();
    for (const path of [
      `us/${toPublicId("dst", randomUUID())}`,
      `eu/${toPublicId("dst", destinationId)}`,
      "us/x",
    ]) {
      expect((await fetch(`${url}/demo/support/${path}`, signed())).status).toBe(404);
    }
  });

  it("a refusal keeps no key: the delivery that is put right and replayed succeeds", async () => {
    const inbox = await serve();
    const same = { key: "key-2", webhookId: "dlv_2", body: followUpBody(randomUUID()) };
    expect((await fetch(urlOf(inbox), signed({ ...same, secret: FOREIGN_SECRET }))).status).toBe(401);
    expect((await fetch(urlOf(inbox), signed(same))).status).toBe(204);
  });
});

describe("RECV-3 a rotation", () => {
  it("both live secrets count, also two signatures in one header, and an ended one does not", async () => {
    const inbox = await serve();
    expect((await fetch(urlOf(inbox), signed({ secret: PREVIOUS_SECRET }))).status).toBe(204);
    const both = signed({ webhookId: "dlv_both" });
    const at = new Date(Number(both.headers["webhook-timestamp"]) * 1000);
    const other = signed({ webhookId: "dlv_both", at, secret: FOREIGN_SECRET, body: both.body });
    const header = `${other.headers["webhook-signature"]} ${both.headers["webhook-signature"]}`;
    const headers = { ...both.headers, "webhook-signature": header };
    expect((await fetch(urlOf(inbox), { ...both, headers })).status).toBe(204);

    await database.pool.query(
      "UPDATE sluice.destination SET secret_previous_until = clock_timestamp() - interval '1 second' WHERE id = $1",
      [destinationId],
    );
    const later = await serve();
    expect((await fetch(urlOf(later), signed({ secret: PREVIOUS_SECRET }))).status).toBe(401);
    expect((await fetch(urlOf(later), signed())).status).toBe(204);
  });

  it("a secret that was changed counts within seconds, without a restart", async () => {
    const inbox = await serve();
    const id = await makeDestination(database.pool, tenantId);
    const other = await makeDestination(database.pool, tenantId, { secret: FOREIGN_SECRET });
    expect((await fetch(urlOf(inbox, id), signed())).status).toBe(204);
    await database.pool.query(
      "UPDATE sluice.destination d SET secret_current = o.secret_current FROM sluice.destination o WHERE d.id = $1 AND o.id = $2",
      [id, other],
    );
    await waitFor(
      async () => (await fetch(urlOf(inbox, id), signed({ secret: FOREIGN_SECRET }))).status === 204,
      { what: "the new secret" },
    );
    expect((await fetch(urlOf(inbox, id), signed())).status).toBe(401);
  });
});

describe("RECV-2 limits and failures", () => {
  it("429 with Retry-After beyond the rate, and strangers spend none of it", async () => {
    const inbox = await serve({ limiter: createLimiter({ ratePerSecond: 0.01, burst: 2 }) });
    for (let n = 0; n < 5; n += 1) {
      expect((await fetch(urlOf(inbox), signed({ secret: FOREIGN_SECRET }))).status).toBe(401);
    }
    expect((await fetch(urlOf(inbox), signed())).status).toBe(204);
    expect((await fetch(urlOf(inbox), signed())).status).toBe(204);
    const limited = await fetch(urlOf(inbox), signed());
    const seconds = Number(limited.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThanOrEqual(100);
    expect((await problemOf(limited)).code).toBe("too_many_requests");
    expect((await readInboxRows(database.pool)).keys).toBe(2);
  });

  it("503 with Retry-After while the storage is down, at the first look and at the transaction", async () => {
    const lost = createPool({
      connectionString: "postgresql://nobody@127.0.0.1:1/none",
      max: 1,
      applicationName: "sluice-test",
    });
    const endpoints = createEndpointBook(
      () => database.pool,
      TEST_KEYRING,
      () => performance.now(),
    );
    for (const inbox of [
      await serve({ poolOf: () => lost }),
      await serve({ poolOf: () => lost, endpoints }),
    ]) {
      const response = await fetch(urlOf(inbox), signed());
      expect(response.headers.get("retry-after")).toBe("5");
      expect(await problemOf(response)).toMatchObject({ status: 503, code: "database_unreachable" });
    }
    await lost.end();
    expect(errors).toEqual([]);
  });

  it("500 without its words when it is our own mistake, and the words are reported", async () => {
    const endpoints = createEndpointBook(
      () => database.pool,
      TEST_KEYRING,
      () => performance.now(),
    );
    const broken = {
      find: async (address: { region: string; endpoint: string }) => {
        const found = await endpoints.find(address);
        return found === null ? null : { ...found, id: "not-a-uuid" };
      },
    };
    const response = await fetch(urlOf(await serve({ endpoints: broken })), signed());
    const text = JSON.stringify(await problemOf(response));
    expect(response.status).toBe(500);
    expect(text).not.toContain("uuid");
    expect(String(errors[0])).toContain("uuid");
  });
});
