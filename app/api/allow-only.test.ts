/** A method that a resource does not have is a problem that names those it has; no route is left to an empty 405. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { allowOnly, METHODS } from "./allow-only.ts";

vi.mock("server-only", () => ({}));

const V1 = path.join(import.meta.dirname, "v1");

function request(method: string): Request {
  return new Request("http://console.example/api/v1/things", { method, headers: { "x-request-id": "r-1" } });
}

/** What a route file says that it has and that it has not. */
function methodsOf(file: string): { own: string[]; others: string[]; named: string[] } {
  const text = readFileSync(path.join(V1, file), "utf8");
  const [, others = "", named = ""] =
    /^export const \{ ([A-Z, ]+) \} = allowOnly\(([A-Z", ]+)\);$/m.exec(text) ?? [];
  return {
    own: [...text.matchAll(/^export (?:async )?function ([A-Z]+)\(/gm)]
      .map(([, name]) => String(name))
      .sort(),
    others: others.split(", "),
    named: named.replaceAll('"', "").split(", "),
  };
}

describe("a method that a resource does not have", () => {
  const handlers = allowOnly("GET", "POST");

  it.each(["DELETE", "PATCH", "PUT"] as const)("%s is 405, a problem with Allow", async (method) => {
    const response = handlers[method](request(method));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await response.json()).toMatchObject({
      code: "method_not_allowed",
      status: 405,
      correlationId: "r-1",
      detail: `${method} is not a method of this resource. It has GET, HEAD, OPTIONS, POST.`,
    });
  });

  it("is told to OPTIONS without a body; HEAD goes with GET and with nothing else", async () => {
    const options = handlers.OPTIONS(request("OPTIONS"));
    expect([options.status, options.headers.get("allow"), await options.text()]).toEqual([
      204,
      "GET, HEAD, OPTIONS, POST",
      "",
    ]);
    expect(Object.keys(handlers).sort()).toEqual(["DELETE", "OPTIONS", "PATCH", "PUT"]);
    expect(allowOnly("POST").HEAD(request("HEAD")).status).toBe(405);
  });
});

describe("every route below /api/v1", () => {
  const files = readdirSync(V1, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\broute\.ts$/.test(file),
  );

  it.each(files)("%s answers every method, and names the ones that it has", (file) => {
    const { own, others, named } = methodsOf(file);
    expect(named).toEqual(own);
    const byNext = own.includes("GET") ? ["HEAD"] : [];
    expect([...own, ...others, ...byNext].sort()).toEqual([...METHODS]);
  });
});
