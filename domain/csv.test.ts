/** What a spreadsheet opens: one cell stays one cell, and no text of a customer is a formula. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvCell, csvLine } from "./csv.ts";

describe("RFC 4180", () => {
  it("quotes commas, quotes and line ends, doubles quotes, and ends each line with CRLF", () => {
    expect(csvLine(["a", "b,c", 'd"e', "f\r\ng", ""])).toBe('a,"b,c","d""e","f\r\ng",\r\n');
    expect(csvLine([])).toBe("\r\n");
  });

  it("leaves null and undefined empty and writes numbers as they are, negative ones too", () => {
    expect(csvLine([null, undefined, 0, -5, 1.5, true, 12345678901234567890n])).toBe(
      ",,0,-5,1.5,true,12345678901234567890\r\n",
    );
  });
});

describe("formula cells", () => {
  it.each(["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠x"])(
    "%j begins with an apostrophe inside quotes",
    (text) => {
      expect(csvCell(text)).toBe(`"'${text}"`);
    },
  );

  it("keeps the quotes of a formula doubled", () => {
    expect(csvCell('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`);
  });

  it("leaves a sign inside a text alone", () => {
    for (const text of ["a=b", "hold.released", "2026-11-30T12:00:00Z", "dlv_1-2"])
      expect(csvCell(text)).toBe(text);
  });

  it("any list of texts is read back as it was, but for the apostrophes", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 6 }), (values) => {
        const cells = readLine(csvLine(values));
        expect(cells).toHaveLength(values.length);
        for (const [index, cell] of cells.entries()) {
          const value = values[index] ?? "";
          expect([value, `'${value}`]).toContain(cell);
          expect(cell).not.toMatch(/^\s*[=+\-@]/);
        }
      }),
    );
  });
});

/** A reader of one line by RFC 4180, written apart from the writer. */
function readLine(line: string): string[] {
  const cells: string[] = [];
  let at = 0;
  const end = line.length - 2;
  for (;;) {
    let cell = "";
    if (line[at] === '"') {
      at += 1;
      while (line[at] !== '"' || line[at + 1] === '"') {
        cell += line[at];
        at += line[at] === '"' ? 2 : 1;
      }
      at += 1;
    } else {
      while (at < end && line[at] !== ",") {
        cell += line[at];
        at += 1;
      }
    }
    cells.push(cell);
    if (at >= end) return cells;
    at += 1;
  }
}
