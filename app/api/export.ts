/**
 * Lists as files. Reads page after page and sends each as it comes, so that a long list never stands in memory; it must
 * never end early in silence: a page that fails breaks the download off, and a list that is longer than the limit says so
 * in its last line. Columns are written as given here, and no body or secret is ever one of them.
 */
import "server-only";
import { z } from "zod";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { SluiceError } from "#domain/errors.ts";
import { admit, type Caller, guarded } from "./answer.ts";
import { EXPORT_FORMATS, type ExportFormat, format } from "./export-schemas.ts";
import { type ExportColumn, MAX_EXPORT_ROWS, MAX_PAGES, streamOf } from "./export-stream.ts";

/** Rows that an export asks for at a time. */
export const EXPORT_PAGE_ROWS = 500;

export { EXPORT_FORMATS, type ExportColumn, type ExportFormat, format, MAX_EXPORT_ROWS };

export interface ExportSpec<Row> {
  readonly action: "export";
  /** Without an ending: "deliveries-us". The time and the ending are added. */
  readonly fileName: string | ((caller: Caller) => string);
  readonly columns: readonly ExportColumn<Row>[];
  /** The pages in their order, see `pagesOf`. Whatever it throws before its first page is answered as a problem. */
  readonly pages: (caller: Caller) => AsyncIterable<readonly Row[]>;
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
};
const formatOnly = z.object({ format });

/**
 * Answers with a file. `format=csv` (the default) or `format=ndjson`; the route's own schema reads the other parameters.
 * Problems: those of `answer`, and `region_unavailable` when the region does not answer the first page.
 */
export function exportRows<Row>(request: Request, spec: ExportSpec<Row>): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const caller = await admit(request, spec.action, correlationId);
    const chosen = formatOf(request);
    const pages = spec.pages(caller)[Symbol.asyncIterator]();
    // Before the first byte, so that a refusal is still a problem and not half a file.
    const first = await pages.next();
    const name = typeof spec.fileName === "string" ? spec.fileName : spec.fileName(caller);
    return new Response(streamOf(first, pages, spec.columns, chosen), {
      headers: {
        "content-type": TYPES[chosen],
        "content-disposition": `attachment; filename="${safeName(name)}-${stampOf(new Date())}.${chosen}"`,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": correlationId,
        "sluice-export-row-limit": String(MAX_EXPORT_ROWS),
      },
    });
  });
}

/**
 * The pages of a list function: asks from the first page on until there is none left.
 * @throws SluiceError `region_unavailable` when the region does not answer: a file must not look shorter than the list
 */
export async function* pagesOf<Row>(
  read: (cursor: string | undefined) => Promise<RegionAnswer<{ rows: Row[]; next: string | null }>>,
): AsyncGenerator<Row[]> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await read(cursor);
    if (answer.status === "unavailable") {
      throw new SluiceError("region_unavailable", answer.detail, { region: answer.region });
    }
    yield answer.data.rows;
    if (answer.data.next === null) return;
    cursor = answer.data.next;
  }
}

function formatOf(request: Request): ExportFormat {
  const given = new URL(request.url).searchParams.get("format") ?? undefined;
  const parsed = formatOnly.safeParse({ format: given });
  if (parsed.success) return parsed.data.format;
  throw new SluiceError("invalid_query", `format must be one of ${EXPORT_FORMATS.join(", ")}`);
}

function safeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 80);
}

/** "20261130T120000Z" */
function stampOf(at: Date): string {
  return `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}
