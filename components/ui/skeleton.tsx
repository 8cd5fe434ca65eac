/** Grey stand-ins of the final size, shown only when an answer takes longer than 150 ms. */
import { cx } from "./cx.ts";

/** One bar. Give it the height and width of what will stand there. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cx("block animate-skeleton rounded-sm bg-subtle", className)} />;
}

/** Rows of a table that has not been read yet. */
export function SkeletonRows({ rows, columns }: { rows: number; columns: number }) {
  return Array.from({ length: rows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
    <tr key={row} className="h-9 border-line border-b last:border-b-0">
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
        <td key={column} className="px-3">
          <Skeleton className={cx("h-3.5", column === 0 ? "w-32" : "w-16")} />
        </td>
      ))}
    </tr>
  ));
}
