/** Of the API the proxy sees only paths that no handler could, and answers them in the API's own shape. */
import { unstable_doesMiddlewareMatch as matches } from "next/experimental/testing/server";
import { NextRequest } from "next/server";
import { describe, expect, it } from "vitest";
import { config, proxy } from "./proxy.ts";

const HOST = "http://console.example";
const BROKEN = [
  "/api/v1/deliveries/%",
  "/api/v1/%zz/cancel",
  "/api/v1/deliveries/%ff",
  "/api/v1/%E0%A4%A",
  "/api/x%",
];

describe("a path of the API that cannot be decoded", () => {
  it.each(BROKEN)("%s is a problem with the caller's request id, whatever the method", async (path) => {
    expect(matches({ config, url: path })).toBe(true);
    for (const method of ["GET", "POST"]) {
      const answer = proxy(new NextRequest(HOST + path, { method, headers: { "x-request-id": "r-1" } }));
      expect(answer.status).toBe(400);
      expect(answer.headers.get("content-type")).toContain("application/problem+json");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("x-request-id")).toBe("r-1");
      expect(await answer.json()).toMatchObject({ code: "bad_path", status: 400, correlationId: "r-1" });
    }
  });

  it("gets an id of its own when the caller's has no sane shape", async () => {
    const headers = { "x-request-id": "a b" };
    const answer = proxy(new NextRequest(`${HOST}/api/v1/%`, { headers }));
    expect(await answer.json()).toMatchObject({ correlationId: answer.headers.get("x-request-id") });
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("every other path", () => {
  it.each([
    "/api/v1/deliveries",
    "/api/v1/deliveries/dlv_1/cancel",
    "/api/v1/people/usr%3Aann%20b",
    "/healthz",
  ])("%s is not seen", (path) => {
    expect(matches({ config, url: path })).toBe(false);
  });

  it("of the API goes on when it can be decoded, and a page gets its policy with a fresh nonce", () => {
    const api = proxy(new NextRequest(`${HOST}/api/v1/tenants/%C3%BC`));
    expect([api.status, api.headers.get("x-middleware-next")]).toEqual([200, "1"]);
    expect(api.headers.get("content-security-policy")).toBeNull();
    expect(matches({ config, url: "/deliveries/%" })).toBe(true);
    const [one, two] = [1, 2].map(() => proxy(new NextRequest(`${HOST}/deliveries`)).headers);
    expect(one?.get("content-security-policy")).toContain("'nonce-");
    expect(one?.get("content-security-policy")).not.toBe(two?.get("content-security-policy"));
  });
});
