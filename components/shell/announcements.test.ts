/** What is read aloud never floods a screen reader and never loses the newest of a kind. */
import { expect, test } from "vitest";
import { ANNOUNCE_GAP_MS, createAnnouncements } from "./announcements.ts";

test("at most one message in ten seconds", () => {
  const queue = createAnnouncements();
  queue.add("a", "first");
  queue.add("b", "second");
  expect(queue.take(1_000)).toBe("first");
  expect([queue.take(1_001), queue.waitMs(1_001)]).toEqual([null, ANNOUNCE_GAP_MS - 1]);
  expect(queue.take(1_000 + ANNOUNCE_GAP_MS)).toBe("second");
  expect([queue.take(90_000), queue.waitMs(90_000)]).toEqual([null, null]);
});

test("of one kind only the newest is read", () => {
  const queue = createAnnouncements();
  queue.add("pause", "1 tenant paused");
  queue.add("pause", "2 tenants paused");
  expect(queue.take(0)).toBe("2 tenants paused");
  expect(queue.waitMs(0)).toBeNull();
});

test("the queue is bounded; the oldest makes room", () => {
  const queue = createAnnouncements();
  for (let n = 0; n < 20; n += 1) queue.add(`kind ${n}`, `message ${n}`);
  expect(queue.take(0)).toBe("message 15");
});
