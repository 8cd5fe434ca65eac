/** A page that does not exist. */
import Link from "next/link";
import { Notice } from "#components/ui/notice.tsx";

export default function NotFound() {
  return (
    <>
      <h1 className="sr-only">Not found</h1>
      <Notice
        kind="no-match"
        title="There is no such page"
        actions={
          <Link
            href="/"
            className="inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-2.5 font-medium text-table hover:bg-hover max-md:h-11"
          >
            Go to the overview
          </Link>
        }
      >
        The address may be old, or a character of it was lost on the way.
      </Notice>
    </>
  );
}
