/** What staff see of a URL: where it goes, and nothing of what a customer may have put into it. */
import { describe, expect, it } from "vitest";
import { maskUrl } from "./masked-url.ts";

describe("maskUrl", () => {
  it("ID-8 shows scheme, host and port, and no character of path, query or credentials", () => {
    expect(maskUrl("https://user:pw@hooks.example.com:8443/zq/token-9?key=zq9#zq")).toEqual({
      host: "hooks.example.com:8443",
      masked: "https://hooks.example.com:8443/•••/•••?•••",
    });
  });

  it.each([
    ["https://a.example", "https://a.example"],
    ["https://a.example/", "https://a.example"],
    ["https://a.example/x", "https://a.example/•••"],
    ["http://[::1]:9000/1/2/3/4/5/6", "http://[::1]:9000/•••/•••/•••/•••"],
  ])("%s is shown as %s", (url, masked) => {
    expect(maskUrl(url).masked).toBe(masked);
  });

  it("shows no text that is no URL", () => {
    expect(maskUrl("secret text")).toEqual({ host: "unknown", masked: "unknown" });
    expect(maskUrl(null)).toEqual({ host: "unknown", masked: "unknown" });
  });
});
