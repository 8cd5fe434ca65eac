/** Sentences about the list as a whole: its order, its size, its time. */
import { formatCount } from "#components/ui/format.ts";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";

const ORDER_WORDS: Readonly<Record<DeliveryPage["order"], string>> = {
  accepted: "newest first",
  due: "latest due first",
  oldest_due: "oldest due first",
};

export function orderWords(order: DeliveryPage["order"] | undefined): string {
  return ORDER_WORDS[order ?? "accepted"];
}

/** "1 delivery", "312 deliveries", "10,000+ deliveries". */
export function totalWords(total: DeliveryPage["total"]): string {
  if (total === null) return "";
  const count = `${formatCount(total.count)}${total.atLeast ? "+" : ""}`;
  return `${count} ${total.count === 1 && !total.atLeast ? "delivery" : "deliveries"}`;
}
