/** Bodies are shown to who may see them, each view is in the audit, and nothing is shown that is not. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_SHOWN_BYTES } from "#domain/body-text.ts";
import { type ErrorCode, isSluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Grant } from "#domain/permissions.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { erasePayload } from "./commands/erase-payload.ts";
import { restrictPayload } from "./commands/restrict-payload.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { readDelivery } from "./read-delivery.ts";
import { revealBody } from "./reveal-body.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, endDelivery } from "./test-rows.ts";

const BODY = '{"note":"<img src=x onerror=alert(1)>","id":12345678901234567890}';

let regions: TestRegions;
let tenantId: string;
let destinationId: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  tenantId = await addTenant(regions.us.pool, "us", "northwind");
  destinationId = await addDestination(regions.us.pool, "us", tenantId);
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

function by(grant: Partial<Grant> = {}) {
  const whole: Grant = {
    role: "support",
    regions: ["us"],
    tenantIds: null,
    canReveal: true,
    actions: null,
    ...grant,
  };
  return { actor: "user:ann@example.test", grants: [whole], correlationId: randomUUID() };
}

async function made(body: string | Buffer = BODY): Promise<{ id: string; uuid: string; payloadId: string }> {
  const { pool } = regions.us;
  const { id } = await addDelivery(pool, "us", { tenantId, destinationId, dueInSeconds: 0 });
  const { rows } = await pool.query<{ payload_id: string }>(
    "SELECT payload_id FROM sluice.delivery WHERE id = $1",
    [id],
  );
  const payloadId = rows[0]?.payload_id ?? "";
  const bytes = Buffer.from(body);
  await pool.query("UPDATE sluice.payload SET body = $2, size_bytes = $3 WHERE id = $1", [
    payloadId,
    bytes,
    bytes.length,
  ]);
  return { id: toPublicId("dlv", id), uuid: id, payloadId };
}

async function views(deliveryId: string) {
  const { rows } = await regions.us.pool.query(
    `SELECT actor, actor_role, action, target_kind, tenant_id, reason, after, result, correlation_id
       FROM sluice.operator_action WHERE target_id = $1 ORDER BY at LIMIT 20`,
    [deliveryId],
  );
  return rows;
}

async function codeOf(work: Promise<unknown>): Promise<ErrorCode | "none" | "other"> {
  return work.then(
    () => "none" as const,
    (error: unknown) => (isSluiceError(error) ? error.code : "other"),
  );
}

describe("a payload", () => {
  test("is shown as the text that it is, and the view is recorded with who, what and how much, never with a byte of it", async () => {
    const { id } = await made();
    const who = by();
    const shown = await revealBody(who, {
      region: "us",
      deliveryId: id,
      what: "payload",
      reason: "ticket 4711",
    });
    expect(shown).toMatchObject({
      text: BODY,
      isText: true,
      truncated: false,
      erasedAt: null,
      restrictedAt: null,
      attempt: null,
    });
    const audit = await views(id);
    expect(audit).toEqual([
      {
        actor: who.actor,
        actor_role: "support",
        action: "delivery.reveal",
        target_kind: "delivery",
        tenant_id: tenantId,
        reason: "ticket 4711",
        after: {
          what: "payload",
          attempt: null,
          sizeBytes: BODY.length,
          shownBytes: BODY.length,
          erased: false,
        },
        result: "done",
        correlation_id: who.correlationId,
      },
    ]);
    expect(JSON.stringify(audit)).not.toContain("onerror");
    await revealBody(who, { region: "us", deliveryId: id, what: "payload" });
    expect((await views(id)).map(({ reason }) => reason)).toEqual(["ticket 4711", "no reason given"]);
    const page = await readDelivery({ us: null }, id);
    expect(page.annotations.map(({ action }) => action)).toEqual(["delivery.reveal", "delivery.reveal"]);
  });

  test("without an audit row nothing is shown", async () => {
    const { id } = await made();
    const tooLong = { ...by(), correlationId: "x".repeat(200) };
    await expect(revealBody(tooLong, { region: "us", deliveryId: id, what: "payload" })).rejects.toThrow();
    expect(await views(id)).toEqual([]);
  });

  test("is cut at 64 KiB and says so, also in the middle of a character", async () => {
    const { id } = await made(`a${"ä".repeat(MAX_SHOWN_BYTES / 2)}`);
    const shown = await revealBody(by(), { region: "us", deliveryId: id, what: "payload" });
    expect(shown).toMatchObject({
      truncated: true,
      shownBytes: MAX_SHOWN_BYTES,
      sizeBytes: MAX_SHOWN_BYTES + 1,
      isText: true,
    });
    expect(shown.text).toBe(`a${"ä".repeat(MAX_SHOWN_BYTES / 2 - 1)}`);
  });

  test("that is no text comes with its bytes in hex", async () => {
    const { id } = await made(Buffer.from([0xff, 0x00, 0x41]));
    const shown = await revealBody(by(), { region: "us", deliveryId: id, what: "payload" });
    expect(shown).toMatchObject({ isText: false, text: "\ufffd\u0000A" });
    expect(shown.hex).toContain("ff 00 41");
  });

  test("ID-9 that was erased says so and shows nothing", async () => {
    const { id, payloadId } = await made();
    await regions.us.pool.query(
      "UPDATE sluice.payload SET body = NULL, erased_at = clock_timestamp() WHERE id = $1",
      [payloadId],
    );
    const shown = await revealBody(by(), { region: "us", deliveryId: id, what: "payload" });
    expect(shown).toMatchObject({ text: null, hex: null, shownBytes: 0 });
    expect(shown.erasedAt).not.toBeNull();
    expect(await views(id)).toMatchObject([{ after: { erased: true, shownBytes: 0 } }]);
  });

  test("ID-9 that is restricted says so wherever it is shown, and is not called erased", async () => {
    const { id, uuid, payloadId } = await made();
    await endDelivery(regions.us.pool, uuid, "dead");
    const entry = async () => {
      const answer = await listDeadLetters({ us: null }, { region: "us", limit: 10 });
      return answer.status === "ok" ? answer.data.rows.find((row) => row.id === id) : undefined;
    };
    const command = { payloadId: toPublicId("pay", payloadId), reason: "a court asks for it" };
    await restrictPayload(contextOf(regions.us), command);
    const shown = await revealBody(by(), { region: "us", deliveryId: id, what: "payload" });
    expect(shown).toMatchObject({ text: null, hex: null, shownBytes: 0, erasedAt: null });
    expect(shown.restrictedAt).not.toBeNull();
    expect(await views(id)).toMatchObject([{ after: { erased: false, restricted: true, shownBytes: 0 } }]);
    const { payload } = (await readDelivery({ us: null }, id)).delivery;
    expect(payload).toMatchObject({ erasedAt: null, restrictedAt: shown.restrictedAt });
    expect(await entry()).toMatchObject({ payload: "restricted", payloadErasedAt: null });
    await erasePayload(contextOf(regions.us), command);
    expect(await entry()).toMatchObject({ payload: "erased", payloadErasedAt: expect.any(String) });
    const gone = (await readDelivery({ us: null }, id)).delivery.payload;
    expect(gone).toMatchObject({ erasedAt: expect.any(String), restrictedAt: null });
  });

  test("of a delivery that has ended is found too", async () => {
    const { id, uuid } = await made();
    await regions.us.pool.query(
      `UPDATE sluice.delivery SET state = 'leased', lease_token = gen_random_uuid(), leased_by = gen_random_uuid(),
              leased_at = clock_timestamp(), lease_until = clock_timestamp() WHERE id = $1`,
      [uuid],
    );
    await endDelivery(regions.us.pool, uuid, "delivered");
    expect((await revealBody(by(), { region: "us", deliveryId: id, what: "payload" })).text).toBe(BODY);
  });
});

describe("a response", () => {
  async function addAttempt(uuid: string, number: number, body: string | null, kind = "http"): Promise<void> {
    await regions.us.pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number,
              lease_token, due_at, started_at, duration_ms, outcome, decision, status, response_content_type, response_body,
              response_bytes, response_truncated)
       VALUES (gen_random_uuid(), 'us', $1, $2, $3, 'routine', 'first', 1, $6, $4, gen_random_uuid(), clock_timestamp(),
               clock_timestamp(), 3, 'server_error', CASE WHEN $6 = 'stale_result' THEN 'ignored' ELSE 'delayed' END, 500,
               'text/plain', $5, 100000, true)`,
      [uuid, tenantId, destinationId, number, body === null ? null : Buffer.from(body), kind],
    );
  }

  test("is that of the attempt that was named, or of the latest one with an answer, and says what was not stored", async () => {
    const { id, uuid } = await made();
    await addAttempt(uuid, 1, "first answer");
    await addAttempt(uuid, 2, "second answer");
    await addAttempt(uuid, 3, null);
    await addAttempt(uuid, 4, "late answer", "stale_result");
    const named = await revealBody(by(), { region: "us", deliveryId: id, what: "response", attempt: 1 });
    expect(named).toMatchObject({
      text: "first answer",
      attempt: 1,
      truncated: true,
      sizeBytes: 100_000,
      contentType: "text/plain",
    });
    const latest = await revealBody(by(), { region: "us", deliveryId: id, what: "response" });
    expect(latest).toMatchObject({ text: "second answer", attempt: 2 });
    expect((await views(id)).map(({ after }) => after)).toMatchObject([
      { what: "response", attempt: 1 },
      { attempt: 2 },
    ]);
    expect(
      await codeOf(revealBody(by(), { region: "us", deliveryId: id, what: "response", attempt: 3 })),
    ).toBe("not_found");
    expect(
      await codeOf(revealBody(by(), { region: "us", deliveryId: id, what: "payload", attempt: 1 })),
    ).toBe("invalid_body");
  });
});

describe("who may not", () => {
  test("REG-4 is refused by role and by grant, and outside of a scope it does not exist; nothing is recorded as seen", async () => {
    const { id } = await made();
    const request = { region: "us", deliveryId: id, what: "payload" } as const;
    const other = await addTenant(regions.us.pool, "us", `other-${randomUUID().slice(0, 8)}`);
    expect(await codeOf(revealBody(by({ canReveal: false }), request))).toBe("forbidden");
    expect(await codeOf(revealBody(by({ role: "viewer" }), request))).toBe("forbidden");
    expect(await codeOf(revealBody(by({ actions: ["read"] }), request))).toBe("forbidden");
    expect(await codeOf(revealBody(by({ regions: ["eu"] }), request))).toBe("not_found");
    expect(await codeOf(revealBody(by({ tenantIds: [other] }), request))).toBe("not_found");
    // May read this tenant, may reveal another's.
    const mixed = {
      ...by({ tenantIds: [other] }),
      grants: [...by({ tenantIds: [other] }).grants, ...by({ canReveal: false }).grants],
    };
    expect(await codeOf(revealBody(mixed, request))).toBe("forbidden");
    expect(await codeOf(revealBody(by(), { ...request, deliveryId: `dlv_${"0".repeat(32)}` }))).toBe(
      "not_found",
    );
    expect(await codeOf(revealBody(by(), { ...request, deliveryId: "dlv_x" }))).toBe("bad_id");
    expect(await views(id)).toEqual([]);
  });
});
