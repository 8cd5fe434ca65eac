/** The list as a file: the same filters as the list has, so that what is shown is what is exported. */
import { Download } from "lucide-react";
import { cx } from "./cx.ts";

const FORMATS = [
  { format: "csv", label: "CSV" },
  { format: "ndjson", label: "NDJSON" },
] as const;

export interface ExportLinksProps {
  /** Path of the export with its filters: "/api/v1/deliveries/export?region=us". The format is added here. */
  path: string;
  /** Names the list for screen readers: "deliveries". */
  what?: string;
  className?: string;
}

/** Two plain links: the browser downloads, nothing is held in the page. */
export function ExportLinks({ path, what = "list", className }: ExportLinksProps) {
  return (
    <span className={cx("inline-flex items-center gap-1", className)}>
      {FORMATS.map(({ format, label }) => (
        <a
          key={format}
          href={`${path}${path.includes("?") ? "&" : "?"}format=${format}`}
          download
          aria-label={`Export ${what} as ${label}`}
          title={`Export ${what} as ${label}, at most 10,000 rows`}
          className="inline-flex h-8 items-center gap-1 rounded-md px-2 font-medium text-muted text-table hover:bg-hover hover:text-fg max-md:h-11"
        >
          <Download aria-hidden="true" className="size-3.5" />
          {label}
        </a>
      ))}
    </span>
  );
}
