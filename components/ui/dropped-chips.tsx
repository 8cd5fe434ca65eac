"use client";
/**
 * Query parameters of the page's address that mean nothing here. They are not used and not hidden: each is a chip that
 * removes it, so that a filter is never silently wider than the address says.
 */
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { Chip } from "./chip.tsx";

const MAX_SHOWN_CHARS = 40;

export interface DroppedChipsProps {
  /** Parameters that the page reads, each with the test of its value. */
  known: Readonly<Record<string, (value: string) => boolean>>;
}

/** Nothing when every parameter is understood. */
export function DroppedChips({ known }: DroppedChipsProps) {
  const params = useSearchParams();
  const pathname = usePathname();
  const router = useRouter();
  const dropped = droppedOf(params, known);
  if (dropped.length === 0) return null;

  function remove(name: string) {
    const rest = new URLSearchParams(params);
    rest.delete(name);
    router.replace(rest.size > 0 ? `${pathname}?${rest}` : pathname, { scroll: false });
  }

  return (
    <div role="status" className="flex flex-wrap items-center gap-2 text-muted text-table">
      Ignored, because it means nothing here:
      {dropped.map(({ name, value }) => (
        <Chip
          key={name}
          tone="warn"
          label={`${name}=${value.slice(0, MAX_SHOWN_CHARS)}`}
          action="Remove it from the address"
          onRemove={() => remove(name)}
        />
      ))}
    </div>
  );
}

/** Parameters that are unknown or whose value is not understood. */
export function droppedOf(
  params: Iterable<[string, string]>,
  known: DroppedChipsProps["known"],
): { name: string; value: string }[] {
  const dropped = new Map<string, string>();
  for (const [name, value] of params) {
    const test = Object.hasOwn(known, name) ? known[name] : undefined;
    if (test === undefined || !test(value)) dropped.set(name, value);
  }
  return [...dropped].map(([name, value]) => ({ name, value }));
}
