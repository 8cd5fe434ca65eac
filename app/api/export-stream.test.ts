/** Exported files: whole, or visibly not. */
import { describe, expect, test } from "vitest";
import { type ExportColumn, MAX_EXPORT_ROWS, streamOf } from "./export-stream.ts";

interface Line {
  name: string | null;
  count: number;
}

const COLUMNS: readonly ExportColumn<Line>[] = [
  { name: "name", value: ({ name }) => name },
  { name: "count", value: ({ count }) => count },
];

async function* pagesOf(...pages: (Line[] | Error)[]): AsyncGenerator<Line[]> {
  for (const page of pages) {
    if (page instanceof Error) throw page;
    yield page;
  }
}

async function read(pages: AsyncGenerator<Line[]>, format: "csv" | "ndjson"): Promise<string> {
  return new Response(streamOf(await pages.next(), pages, COLUMNS, format)).text();
}

const rows = (count: number): Line[] =>
  Array.from({ length: count }, (_, n) => ({ name: `n${n}`, count: n }));

describe("files", () => {
  test("CSV has one header line, then every row of every page; NDJSON has a row a line and no header", async () => {
    const pages = () => pagesOf([{ name: "=1+1", count: -1 }], [], [{ name: null, count: 2 }]);
    expect(await read(pages(), "csv")).toBe(`name,count\r\n"'=1+1",-1\r\n,2\r\n`);
    expect(await read(pages(), "ndjson")).toBe('{"name":"=1+1","count":-1}\n{"name":null,"count":2}\n');
  });

  test("an empty list is a header, or nothing", async () => {
    expect(await read(pagesOf([]), "csv")).toBe("name,count\r\n");
    expect(await read(pagesOf([]), "ndjson")).toBe("");
  });

  test("a list of exactly the limit is whole, a longer one says in its last line that it was cut", async () => {
    const half = MAX_EXPORT_ROWS / 2;
    const whole = (await read(pagesOf(rows(half), rows(half)), "ndjson")).trim().split("\n");
    expect(whole).toHaveLength(MAX_EXPORT_ROWS);
    expect(whole.at(-1)).not.toContain("truncated");
    const cut = (await read(pagesOf(rows(half), rows(half), rows(1)), "ndjson")).trim().split("\n");
    expect(cut).toHaveLength(MAX_EXPORT_ROWS + 1);
    expect(JSON.parse(cut.at(-1) ?? "")).toMatchObject({ truncated: true });
    const csv = await read(pagesOf(rows(half), rows(half + 1)), "csv");
    expect(csv.split("\r\n").at(-2)).toContain("cut off after 10000 rows");
  });

  test("a page that fails breaks the file off", async () => {
    await expect(read(pagesOf(rows(2), new Error("region away")), "csv")).rejects.toThrow("region away");
  });

  test("who stops reading stops the list", async () => {
    let asked = 0;
    let ended = false;
    async function* endless(): AsyncGenerator<Line[]> {
      try {
        for (;;) {
          asked += 1;
          yield rows(1);
        }
      } finally {
        ended = true;
      }
    }
    const pages = endless();
    const reader = streamOf(await pages.next(), pages, COLUMNS, "csv").getReader();
    await reader.read();
    await reader.cancel();
    expect(ended).toBe(true);
    expect(asked).toBeLessThan(5);
  });
});
