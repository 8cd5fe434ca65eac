/** What a local start adds to the environment of its children, and what it leaves alone. */
import { describe, expect, it } from "vitest";
import { readSendingRules } from "#db/sending-rules-config.ts";
import { readDestinationUrl } from "#domain/destination-url.ts";
import { localSendingSettings } from "./config.ts";

describe("localSendingSettings", () => {
  it("let the demo reach the receivers on this machine, and nothing else that is not public", () => {
    const rules = readSendingRules(localSendingSettings({}));
    expect(readDestinationUrl("http://127.0.0.1:4400/ok/a", rules).kind).toBe("ok");
    for (const host of ["10.0.0.1", "169.254.169.254", "[fd00::1]"]) {
      expect(readDestinationUrl(`http://${host}:4400/`, rules).kind).toBe("blocked");
    }
  });

  it("leave what somebody has set, also when it is set to nothing", () => {
    expect(localSendingSettings({ SLUICE_ALLOW_ADDRESSES: "", SLUICE_PLAIN_HTTP: "false" })).toEqual({});
    expect(localSendingSettings({ SLUICE_PLAIN_HTTP: "false" })).toEqual({
      SLUICE_ALLOW_ADDRESSES: "loopback",
    });
  });
});
