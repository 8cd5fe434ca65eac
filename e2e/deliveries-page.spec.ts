/**
 * The page of one delivery, as support and SRE use it: from the filtered list over the timeline to the reason why it waits;
 * bodies behind a permission and an audit row.
 */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { addGrant } from "#db/console/access/grants.ts";
import { MAX_SHOWN_BYTES } from "#domain/body-text.ts";
import { readAuditOf } from "#tests/support/access-rows/sql.ts";
import { shutGate } from "#tests/support/gate-rows/sql.ts";
import { becomes, reaches, readAgain } from "./page-parts.ts";
import { BY, clientOf, createPerson, type Person } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const SCRIPT = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";

const why = (page: Page) => page.getByRole("region", { name: "Why it has not been sent" });

/** A person of support who may reveal bodies. */
async function revealer(world: World): Promise<Person> {
  const person = await createPerson(world.regions, `revealer-${randomUUID().slice(0, 8)}`, null);
  await addGrant(
    world.regions.us.pool,
    person.email,
    { role: "support", regions: ["us"], tenantIds: null, canReveal: true },
    BY,
  );
  return person;
}

test("SIG-6 one delivery with retries is traced from the filtered list over the side panel to its page", async ({
  page,
  world,
}) => {
  test.slow();
  const name = `retries-${Date.now()}`;
  const customer = await addCustomer(world, "us", "Retry Bank", `/script/500,429:1,200/${name}`);
  await world.regions.us.prisma.destination.update({
    where: { id: customer.destinationId },
    data: { policyOverride: { backoff: { baseMs: 1_000 } } },
  });
  const { id, uuid } = await enqueue(world, "us", customer, { key: name });
  await reaches(world, "us", uuid, "delivered");

  await page.goto(`/deliveries?region=us&tenant=${customer.slug}&attempts=3..`);
  const row = page.getByRole("row", { name: new RegExp(id) });
  await expect(row).toContainText("Delivered");
  await expect(row).toContainText("3 attempts, 1 of 8 failures");
  await expect(page.getByText("This filter looks at one day of accepted deliveries")).toBeVisible();

  await row.hover();
  await row.getByRole("button", { name: "Show beside the list" }).click();
  await expect(page).toHaveURL(new RegExp(`panel=${id}`));
  const panel = page.getByRole("dialog");
  await expect(panel.getByRole("heading", { name: /Attempt 3.*200 Delivered/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(page).not.toHaveURL(/panel=/);

  await row.getByRole("link", { name: id }).click();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await expect(timeline.getByRole("heading", { name: /Attempt 1.*500 Server error/ })).toBeVisible();
  await expect(timeline.getByText("the policy's own, since no usable Retry-After came")).toBeVisible();
  await expect(timeline.getByRole("heading", { name: /Attempt 2.*429 Rate-limited/ })).toBeVisible();
  await expect(timeline.getByText("read as seconds, asks for 1.000 s")).toBeVisible();
  await expect(timeline.getByText(/claimed by .*, process \d+/).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Next attempts" })).toHaveCount(0);

  const exchange = page.getByRole("region", { name: "Request and response" });
  await exchange.getByRole("combobox", { name: "Attempt" }).selectOption({ label: "Attempt 2: 429" });
  await expect(exchange.getByRole("row", { name: /sluice-attempt/ })).toContainText("2");
  await expect(exchange.getByRole("row", { name: /idempotency-key/ })).toContainText(name);
  await expect(exchange.getByRole("row", { name: /webhook-signature/ })).toContainText("not kept");
  await exchange.getByRole("tab", { name: "Response" }).click();
  await expect(exchange.getByText("429 Rate-limited")).toBeVisible();

  await page.getByRole("button", { name: "Show raw JSON" }).click();
  await expect(page.getByRole("region", { name: "Raw JSON of the delivery" })).toContainText(`"id": "${id}"`);
});

test("SIG-9 the panel names each blocker with its end, and the earliest time", async ({ page, world }) => {
  test.slow();
  const { pool } = world.regions.us;
  const customer = await addCustomer(world, "us", "Blocked Bank", "/ok/blocked");
  await shutGate(world.regions.us.pool, customer.destinationId);
  const { id } = await enqueue(world, "us", customer, { key: `blocked-${Date.now()}` });
  await page.goto(`/deliveries/${id}`);
  await expect(why(page)).toContainText("The destination's gate is shut until");
  await expect(why(page)).toContainText("429 without a usable Retry-After");

  await pool.query("UPDATE sluice.tenant SET claim_owner = 'legacy' WHERE id = $1", [customer.tenantId]);
  // The page follows by itself.
  await expect(why(page)).toContainText("Its claims were handed over");
  await expect(why(page)).toContainText("the claims of its tenant belong to legacy");

  // Everything at once.
  const statements = [
    `UPDATE sluice.tenant SET claim_owner = 'sluice', paused_at = clock_timestamp(), paused_by = 'user:ann@example.test',
            pause_until = clock_timestamp() + interval '2 hours', pause_reason = 'the customer moves' WHERE id = $1`,
    `UPDATE sluice.destination SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour',
            pause_reason = 'their deploy', disabled_at = clock_timestamp(), disabled_reason = 'gone' WHERE tenant_id = $1`,
    `UPDATE sluice.destination_state s SET breaker = 'open', breaker_until = clock_timestamp() + interval '5 minutes', breaker_opens = 1,
            down_in_row = 20, breaker_why = 'timeout' FROM sluice.destination x WHERE x.id = s.destination_id AND x.tenant_id = $1`,
    `WITH slow AS (UPDATE sluice.destination SET rate_per_second = 0.01 WHERE tenant_id = $1 RETURNING id)
     INSERT INTO sluice.destination_rate (destination_id, region, rate_tat) SELECT id, 'us', clock_timestamp() + interval '90 seconds' FROM slow`,
  ];
  for (const statement of statements) await pool.query(statement, [customer.tenantId]);
  await readAgain(page);
  for (const words of [
    /The tenant is paused until .* the customer moves\. Since .*, by ann@example\.test/,
    "The destination is disabled. gone.",
    /The destination is paused until .* their deploy/,
    "The destination's gate is shut until",
    /The destination is judged down.* 20 requests in a row failed, the last with timeout/,
    "The destination's rate is spent until",
    "It leaves when what holds it has ended; no time is set for that.",
  ]) {
    await expect(why(page)).toContainText(words);
  }
  await expect(why(page).getByRole("listitem").first()).toContainText("The tenant is paused");
  await page.goto(`/deliveries?region=us&tenant=${customer.slug}&reason=tenant_paused`);
  const row = page.getByRole("row", { name: new RegExp(id) });
  await expect(row).toContainText("Held: tenant paused");
});

test("SIG-9 what is planned for later, what is in flight and what has died say so", async ({
  page,
  world,
}) => {
  test.slow();
  const { pool } = world.regions.us;
  const customer = await addCustomer(world, "us", "Later Bank", `/slow/20000/later-${Date.now()}`);
  const planned = await enqueue(world, "us", customer, { key: `planned-${Date.now()}` });
  await shutGate(world.regions.us.pool, customer.destinationId);
  const later = await enqueue(world, "us", customer, { key: `later-${Date.now()}` });
  await pool.query(
    "UPDATE sluice.delivery SET due_at = clock_timestamp() + interval '2 hours' WHERE id = $1",
    [later.uuid],
  );
  await page.goto(`/deliveries/${later.id}`);
  await expect(why(page)).toContainText("Planned for later by the application that wrote it");
  await expect(why(page)).toContainText(/Earliest next attempt .* UTC, in 1 h 59 m/);

  const next = page.getByRole("region", { name: "Next attempts" });
  await expect(next.getByRole("row").nth(1)).toContainText("4 s to 6 s");
  await expect(next.getByRole("row").last()).toContainText("dead: attempts exhausted");
  await next.getByText("Every answer is 429").click();
  await expect(next.getByRole("row").nth(1)).toContainText("0 of 8");
  await expect(next).toContainText("shuts the destination's gate as well");

  // The first one went out before the gate was shut, or waits behind it: the page says which.
  await page.goto(`/deliveries/${planned.id}`);
  await expect(why(page)).toContainText(/It is in flight|The destination's gate is shut/);

  const strict = await addCustomer(world, "us", "Dead Bank", "/reject/422/dead-bank");
  const dead = await enqueue(world, "us", strict, { key: `dead-${Date.now()}` });
  await reaches(world, "us", dead.uuid, "dead");
  await page.goto(`/deliveries/${dead.id}`);
  await expect(why(page)).toContainText("It is a dead letter: Rejected by the receiver");
});

test("a body is revealed to who may see it, as text, with an audit row for each view", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "us", "Reveal Bank", "/ok/reveal");
  const body = JSON.stringify({ html: SCRIPT }).replace("}", ',"big":12345678901234567890}');
  const { id } = await enqueue(world, "us", customer, { key: `reveal-${Date.now()}`, body });
  const person = await revealer(world);
  await becomes(page, world, person);
  await page.goto(`/deliveries/${id}`);
  const exchange = page.getByRole("region", { name: "Request and response" });
  await expect(exchange.getByText(/each view is recorded/i)).toBeVisible();
  expect(await page.content()).not.toContain("onerror");
  await exchange.getByRole("button", { name: "Reveal (audited)" }).click();
  const shown = page.getByRole("region", { name: "Body as text" });
  await expect(shown).toHaveText(body);
  await exchange.getByRole("button", { name: "Indent" }).click();
  await expect(shown).toContainText('"big": 12345678901234567890');
  // Text stays text: no element came of it, and no script ran.
  await expect(shown.locator("img, script")).toHaveCount(0);
  await expect(page).not.toHaveTitle("owned");
  await exchange.getByRole("button", { name: "Hide" }).click();
  await expect(shown).toHaveCount(0);

  const audit = await readAuditOf(world.regions.us.pool, `user:${person.email}`);
  expect(audit).toEqual([{ action: "delivery.reveal", result: "done", target_id: id }]);
  await expect(page.getByRole("region", { name: "Timeline" })).toContainText(`Reveal: this delivery`);
});

test("REG-4 without the grant a body is refused in the page and by the API, and the attempt is recorded", async ({
  page,
  world,
}) => {
  const marker = `secret-${randomUUID()}`;
  const customer = await addCustomer(world, "us", "Closed Bank", "/ok/closed");
  const { id } = await enqueue(world, "us", customer, { key: `closed-${Date.now()}`, body: marker });
  await page.goto(`/deliveries/${id}`);
  const button = page.getByRole("button", { name: "Reveal (audited)" });
  await expect(button).toBeDisabled();
  await expect(page.getByText("Needs a grant that allows revealing bodies")).toBeVisible();

  const person = await createPerson(world.regions, `closed-${randomUUID().slice(0, 8)}`, {
    role: "operator",
    regions: ["us"],
    tenantIds: null,
  });
  const client = await clientOf(world, person);
  const path = `/api/v1/deliveries/${id}/reveal?region=us`;
  const refused = await client.post(path, { data: { what: "payload" } });
  expect(refused.status()).toBe(403);
  expect(await refused.json()).toMatchObject({ code: "forbidden", action: "reveal_body" });
  expect(await refused.text()).not.toContain(marker);
  expect(await readAuditOf(world.regions.us.pool, `user:${person.email}`)).toMatchObject([
    { result: "denied" },
  ]);
  await client.dispose();

  const allowed = await clientOf(world, await revealer(world));
  expect(
    (await allowed.post(path.replace("region=us", "region=eu"), { data: { what: "payload" } })).status(),
  ).toBe(404);
  expect((await allowed.post(path, { data: { what: "everything" } })).status()).toBe(422);
  expect((await allowed.get(path)).status()).toBe(405);
  const shown = await allowed.post(path, { data: { what: "payload" } });
  expect(shown.headers()["cache-control"]).toBe("no-store");
  expect(await shown.json()).toMatchObject({ text: marker, truncated: false });
  await allowed.dispose();
});

test("a large, a binary and an erased payload say what they are", async ({ page, world }) => {
  test.slow();
  const { pool } = world.regions.us;
  const customer = await addCustomer(world, "us", "Odd Bank", "/ok/odd");
  await shutGate(world.regions.us.pool, customer.destinationId);
  await becomes(page, world, await revealer(world));
  const withBody = async (key: string, bytes: Buffer | null) => {
    const { id, uuid } = await enqueue(world, "us", customer, { key: `${key}-${Date.now()}` });
    await pool.query(
      `UPDATE sluice.payload p SET body = $2, size_bytes = coalesce(length($2::bytea), p.size_bytes),
              erased_at = CASE WHEN $2::bytea IS NULL THEN clock_timestamp() END FROM sluice.delivery d WHERE d.id = $1 AND p.id = d.payload_id`,
      [uuid, bytes],
    );
    await page.goto(`/deliveries/${id}`);
    await page.getByRole("button", { name: "Reveal (audited)" }).click();
  };
  await withBody("large", Buffer.alloc(MAX_SHOWN_BYTES + 1_000, "x"));
  await expect(page.getByText("the first 64.0 KiB of 65.0 KiB: truncated.")).toBeVisible();
  await withBody("binary", Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  await expect(page.getByRole("region", { name: "Body in hex" })).toContainText("ff fe 00 41");
  await withBody("erased", null);
  await expect(page.getByText("No byte of it is left here.")).toBeVisible();
});
