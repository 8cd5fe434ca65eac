/** The batch whose dead again entries another one takes, with the cause that was named for it. */
import Link from "next/link";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";

/** Nothing where there is none. */
export function Follows({ parent, region }: Pick<ReplayDetail, "parent"> & { region: Region }) {
  if (parent === null) return null;
  return (
    <p className="text-table">
      Follows{" "}
      <Link
        href={`/replays/${parent.id}?region=${region}`}
        prefetch={false}
        className="text-accent underline underline-offset-4"
      >
        {parent.name}
      </Link>
      {parent.rootCause === null ? "." : `, whose cause was: ${parent.rootCause}`}
    </p>
  );
}
